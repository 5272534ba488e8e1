// Uses the settings page in headless Chromium, and says as JSON what it saw:
//
//   node settings.mjs CHROMIUM URL-OF-THE-SITE [STEPS [ADDRESS]]
//
// STEPS is a module that does something else once it is logged in. ADDRESS is where the hosts of a network are.
import {createRequire} from 'node:module';
import {join} from 'node:path';

const [chromium, site, steps, address] = process.argv.slice(2);
const puppeteer = createRequire(join(process.cwd(), 'package.json'))('puppeteer-core');
const seen = {errors: []};
// A busy machine takes long to start a browser. What is stuck is stopped with its suite.
const browser = await puppeteer.launch({executablePath: chromium, args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', ...(address ? [`--host-resolver-rules=MAP * ${address}`] : [])], timeout: 0, protocolTimeout: 0});
const page = await browser.newPage();
page.setDefaultTimeout(0);
page.setDefaultNavigationTimeout(0);
page.on('pageerror', (error) => seen.errors.push(error.message));

const text = (selector) => page.$eval(selector, (element) => element.textContent.trim());
const figures = () => page.$$eval('.widefat tr', (rows) => Object.fromEntries(rows.map((row) => [row.children[0].textContent, row.children[1].textContent])));
// By the keyboard alone: what has no name and no focus cannot be used.
const press = async (label) => {
    for (const button of await page.$$('.wrap button')) {
        if ((await button.evaluate((element) => element.textContent.trim())) === label) {
            await button.focus();
            await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
            return;
        }
    }
    throw new Error(`there is no button "${label}"`);
};

await page.goto(`${site}/wp-login.php`);
await page.$eval('#user_login', (field) => { field.value = 'admin'; });
await page.$eval('#user_pass', (field) => { field.value = 'password'; });
await Promise.all([page.waitForNavigation(), page.click('#wp-submit')]);
if (steps) {
    await (await import(steps)).use({page, site, seen, text, press});
    await browser.close();
    console.log(JSON.stringify(seen));
    process.exit();
}
await page.goto(`${site}/wp-admin/options-general.php?page=larder`);
seen.state = await text('#larder-state');
seen.before = await figures();
seen.label = await page.$eval('#larder-size', (field) => field.labels[0]?.textContent.trim() ?? '');
await page.$eval('#larder-size', (field) => { field.value = '24'; });
await press('Change the size');
seen.resized = await text('.notice p');
seen.after = await figures();
await press('Flush the object cache');
seen.flushed = await text('.notice p');
await press('Disable the object cache');
seen.off = await text('#larder-state');
await press('Enable the object cache');
seen.on = await text('#larder-state');
await browser.close();
console.log(JSON.stringify(seen));
