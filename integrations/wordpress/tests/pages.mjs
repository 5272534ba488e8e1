// What settings.mjs does with the page cache's settings and its item in the admin bar.
//
// LARDER_SCREENSHOTS names a directory that gets pictures.
import {join} from 'node:path';

export const use = async ({page, site, seen, text, press}) => {
    const picture = async (name) => process.env.LARDER_SCREENSHOTS && page.screenshot({path: join(process.env.LARDER_SCREENSHOTS, `${name}.png`), fullPage: true});
    // What of the item's menu can be seen.
    const menu = () => page.$$eval('#wp-admin-bar-larder .ab-submenu .ab-item', (links) => links.filter((link) => { const box = link.getBoundingClientRect(); return box.width > 0 && box.left >= 0 && box.right <= window.innerWidth; }).map((link) => link.textContent.trim()));
    await page.goto(`${site}/hello-world/`);
    seen.cached = await text('#wp-admin-bar-larder > .ab-item');
    await page.focus('#wp-admin-bar-larder > .ab-item');
    seen.name = (await page.accessibility.snapshot()).children.find((node) => node.focused)?.name;
    await page.keyboard.press('Enter');
    await page.waitForSelector('#wp-admin-bar-larder.hover');
    seen.menu = await menu();
    await picture('bar');
    for (const width of [360, 320]) {
        await page.setViewport({width, height: 740, isMobile: true, hasTouch: true});
        await page.goto(`${site}/hello-world/`);
        seen[`bar${width}`] = await page.evaluate(() => {
            const shown = [...document.querySelectorAll('#wp-toolbar > ul > li')].map((item) => [item.id, item.getBoundingClientRect()]).filter(([, box]) => box.width > 0);
            const own = shown.find(([id]) => id === 'wp-admin-bar-larder')?.[1];
            const icon = document.querySelector('#wp-admin-bar-larder .ab-icon');
            const [mine, other] = [icon, document.querySelector('#wp-admin-bar-new-content .ab-icon')].map((one) => one && getComputedStyle(one, ':before'));

            return {
                inside: own !== undefined && own.left >= 0 && own.right <= window.innerWidth,
                rows: new Set(shown.map(([, box]) => Math.round(box.top))).size,
                overlaps: shown.filter(([id, box]) => own && id !== 'wp-admin-bar-larder' && box.left < own.right - 1 && own.left < box.right - 1).map(([id]) => id),
                icon: mine?.content,
                isAsOthers: mine !== null && mine.color === other.color && mine.fontFamily === other.fontFamily,
            };
        });
        await picture(`bar-${width}`);
        await page.tap('#wp-admin-bar-larder > .ab-item');
        await page.waitForSelector('#wp-admin-bar-larder.hover');
        seen[`menu${width}`] = await menu();
        await picture(`bar-${width}-open`);
    }
    await page.setViewport({width: 1280, height: 900});
    await page.goto(`${site}/hello-world/`);
    await Promise.all([page.waitForNavigation(), page.$eval('#wp-admin-bar-larder-clear a', (link) => link.click())]);
    seen.cleared = await text('#wp-admin-bar-larder > .ab-item');

    const settings = `${site}/wp-admin/options-general.php?page=larder`;
    await page.goto(settings);
    seen.state = await text('#larder-pages-state');
    seen.withoutLabel = await page.$$eval('#larder-pages-form input:not([type=hidden]), #larder-pages-form textarea', (fields) => fields.filter((field) => !field.labels.length).map((field) => field.name));
    await picture('desktop');
    await page.$eval('#larder-paths', (field) => { field.value = '/sample*\n\n*'; });
    await press('Save and clear all pages');
    seen.saved = await text('.notice p');
    seen.paths = await page.$eval('#larder-paths', (field) => field.value);
    await page.setViewport({width: 375, height: 800, isMobile: true});
    await page.goto(settings);
    await picture('mobile');
    seen.overflow = await page.$eval('#larder-pages-form', (form) => Math.max(0, Math.round(form.getBoundingClientRect().right - window.innerWidth)));
    await press('Disable the page cache');
    seen.off = await text('#larder-pages-state');
    await press('Enable the page cache');
    seen.on = await text('#larder-pages-state');
};
