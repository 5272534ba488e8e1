// What settings.mjs does with the dashboard, by the keyboard where it presses something.
//
// LARDER_SCREENSHOTS names a directory that gets pictures.
import {join} from 'node:path';

export const use = async ({page, site, seen, text}) => {
    const picture = async (name) => process.env.LARDER_SCREENSHOTS && page.screenshot({path: join(process.env.LARDER_SCREENSHOTS, `${name}.png`), fullPage: true});
    const foreign = new Set();
    page.on('request', (request) => request.url().startsWith('http') && !request.url().startsWith(`${site}/`) && foreign.add(request.url()));
    const enter = async (label) => {
        for (const button of await page.$$('#larder-dashboard button')) {
            if ((await button.evaluate((element) => element.textContent.trim())) === label) {
                await button.focus();
                await page.keyboard.press('Enter');
                return;
            }
        }
        throw new Error(`there is no button "${label}"`);
    };
    const notice = async (words) => {
        await page.waitForFunction((expected) => [...document.querySelectorAll('#larder-flush .components-notice__content')].some((element) => element.textContent.includes(expected)), {}, words);
        return words;
    };
    const table = (id) => page.$$eval(`#${id} tbody tr`, (rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)));
    const open = async (address) => {
        await page.goto(address);
        // The second look at the figures, from which charts begin.
        await page.waitForFunction(() => document.querySelectorAll('#larder-dashboard .larder-chart canvas').length === 5);
        await page.waitForFunction(() => document.querySelectorAll('#larder-groups tbody th').length > 0);
    };

    await page.evaluateOnNewDocument(() => {
        window.drawn = [];
        const draw = CanvasRenderingContext2D.prototype.fillText;
        CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
            window.drawn.push(text);

            return draw.call(this, text, ...place);
        };
    });
    await page.setViewport({width: 1280, height: 900});
    await open(`${site}/wp-admin/index.php?page=larder-dashboard`);
    seen.color = await page.$eval('.larder-dashboard', (element) => getComputedStyle(element).getPropertyValue('--wp-admin-theme-color').trim());
    seen.clocks = await page.evaluate(() => window.drawn.filter((text) => text.includes(':')));
    seen.state = await text('#larder-state');
    seen.charts = await page.$$eval('.larder-chart', (charts) => charts.map((chart) => chart.closest('.larder-card').querySelector('h2').textContent));
    seen.tables = await page.$$eval('.larder-chart', (charts) => charts.map((chart) => chart.closest('.larder-card').querySelectorAll('details table th[scope=col]').length));
    seen.unnamed = await page.$$eval('#larder-dashboard button, #larder-dashboard input, #larder-dashboard [role=region], #larder-dashboard [role=img]', (elements) => elements.filter((element) => !(element.textContent.trim() || element.getAttribute('aria-label') || element.labels?.length)).map((element) => element.outerHTML));
    seen.operations = (await table('larder-operations')).map((row) => row.length);
    seen.slowest = (await table('larder-slowest')).length;
    seen.purges = await table('larder-purges');
    seen.made = await table('larder-made');
    await picture('dashboard-1280');

    const live = (await page.$('#larder-dashboard .components-form-toggle__input'));
    await live.focus();
    await page.keyboard.press('Space');
    seen.isLive = await live.evaluate((field) => field.checked);

    const group = await page.$('#larder-flush-group input');
    await group.focus();
    await page.keyboard.type('shop');
    await page.keyboard.press('Enter');
    seen.flushed = await notice('The group is flushed.');
    await enter('Clear all pages');
    seen.cleared = await notice('All pages are cleared.');

    await enter('Measure this site');
    await page.waitForSelector('#larder-measured');
    seen.measured = (await table('larder-measure')).filter((row) => row.length === 13).map((row) => [row[0], row[1]]);
    seen.drawn = await page.$$eval('#larder-measure .larder-chart canvas', (canvases) => canvases.length);
    await picture('dashboard-measured');

    // WordPress has a language of this name, which no browser knows.
    await page.evaluateOnNewDocument(() => new MutationObserver(() => document.documentElement && (document.documentElement.lang = 'pt-PT-ao90')).observe(document, {childList: true}));
    await page.setViewport({width: 320, height: 800, isMobile: true});
    await open(`${site}/wp-admin/index.php?page=larder-dashboard`);
    seen.language = await page.evaluate(() => document.documentElement.lang);
    seen.narrow = await page.$$eval('#larder-dashboard tbody th', (cells) => Math.min(...cells.filter((cell) => cell.offsetParent !== null).map((cell) => cell.offsetWidth)));
    seen.overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    await picture('dashboard-320');
    for (const scheme of (process.env.LARDER_SCREENSHOTS ? ['midnight', 'sunrise'] : [])) {
        await page.setViewport({width: 1280, height: 900});
        await page.goto(`${site}/wp-admin/profile.php`);
        await page.$eval(`input[name=admin_color][value=${scheme}]`, (field) => { field.checked = true; });
        await Promise.all([page.waitForNavigation(), page.$eval('#submit', (button) => button.click())]);
        await open(`${site}/wp-admin/index.php?page=larder-dashboard`);
        await picture(`dashboard-${scheme}`);
    }
    seen.foreign = [...foreign];
};
