// What settings.mjs does with the dashboard of a network, by the keyboard where it presses something.
export const use = async ({page, site, seen, text}) => {
    await page.goto(`${site}/wp-admin/network/index.php?page=larder-dashboard`);
    // The second look at the figures, from which charts begin.
    await page.waitForFunction(() => document.querySelectorAll('#larder-dashboard .larder-chart canvas').length === 5);
    seen.state = await text('#larder-state');
    seen.menu = await text('#adminmenu a[href="index.php?page=larder-dashboard"]');
    seen.settings = await page.$eval('#larder-dashboard a[href*="page=larder"]', (link) => link.getAttribute('href'));
    const number = await page.$('#larder-flush-site input');
    seen.label = await number.evaluate((field) => field.labels[0]?.textContent.trim() ?? '');
    await number.focus();
    await page.keyboard.down('Control');
    await page.keyboard.press('a');
    await page.keyboard.up('Control');
    await page.keyboard.type('2');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => [...document.querySelectorAll('#larder-flush .components-notice__content')].some((element) => element.textContent.includes('The site is flushed.')));
};
