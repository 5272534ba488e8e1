// What settings.mjs does with the page cache's settings and its item in the admin bar.
//
// LARDER_SCREENSHOTS names a directory that gets pictures.
import {join} from 'node:path';

export const use = async ({page, site, seen, text, press}) => {
    const picture = async (name) => process.env.LARDER_SCREENSHOTS && page.screenshot({path: join(process.env.LARDER_SCREENSHOTS, `${name}.png`), fullPage: true});
    await page.goto(`${site}/hello-world/`);
    seen.cached = await text('#wp-admin-bar-larder > .ab-item');
    await picture('bar');
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
