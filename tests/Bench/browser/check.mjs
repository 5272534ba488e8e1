// Opens a report in headless Chromium and says, as JSON, what is wrong with it:
//
//   node check.mjs CHROMIUM REPORT.html [DIRECTORY-FOR-SCREENSHOTS]
//
// It is opened at the width of a telephone and of a large screen, in light, in dark and as print, without a network.
// What its last table shows after each heading was pressed, twice each, is told too.
import {createRequire} from 'node:module';
import {pathToFileURL} from 'node:url';
import {join, resolve} from 'node:path';

const [chromium, report, screenshots] = process.argv.slice(2);
const puppeteer = createRequire(join(process.cwd(), 'package.json'))('puppeteer-core');
const problems = [];
const found = {charts: 0, tables: 0, sections: 0, sorted: []};

// A busy machine takes long to start a browser and to draw. What is stuck is stopped with its suite.
const browser = await puppeteer.launch({
    executablePath: chromium,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
    timeout: 0,
    protocolTimeout: 0,
});
const views = [
    {name: 'phone', width: 360, height: 800, features: []},
    {name: 'phone-dark', width: 400, height: 800, features: [{name: 'prefers-color-scheme', value: 'dark'}]},
    {name: 'desktop', width: 1280, height: 1000, features: []},
    {name: 'dark', width: 1600, height: 1000, features: [{name: 'prefers-color-scheme', value: 'dark'}]},
    {name: 'print', width: 800, height: 1100, features: [], media: 'print'},
];

// How light a colour is, as the guidelines for accessible content define it (WCAG 2, relative luminance).
const contrast = `(() => {
    const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
    const light = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const paper = light(channels(getComputedStyle(document.body).backgroundColor));
    const weak = new Set();
    for (const element of document.querySelectorAll('p, li, td, th, dt, dd, h1, h2, h3, figcaption, summary, a, strong')) {
        const ink = light(channels(getComputedStyle(element).color));
        const ratio = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
        if (ratio < 4.5) weak.add(element.tagName + '.' + element.className + ' ' + ratio.toFixed(2));
    }
    for (const text of document.querySelectorAll('.chart svg .role-axis-label text, .chart svg .role-legend-label text')) {
        const ink = light(channels(getComputedStyle(text).fill));
        const ratio = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
        if (ratio < 4.5) weak.add('text of a chart ' + ratio.toFixed(2));
    }
    return [...weak];
})()`;

for (const view of views) {
    const page = await browser.newPage();
    page.setDefaultTimeout(0);
    page.setDefaultNavigationTimeout(0);
    page.on('console', (message) => {
        if (['error', 'warn', 'warning'].includes(message.type())) problems.push(`${view.name}: console: ${message.text()}`);
    });
    page.on('pageerror', (error) => problems.push(`${view.name}: error: ${error.message}`));
    page.on('request', (request) => {
        if (!/^(file|data|blob):/.test(request.url())) problems.push(`${view.name}: network request: ${request.url()}`);
    });
    await page.setOfflineMode(true);
    await page.setViewport({width: view.width, height: view.height});
    if (view.features.length > 0) await page.emulateMediaFeatures(view.features);
    if (view.media) await page.emulateMediaType(view.media);
    await page.goto(pathToFileURL(resolve(report)).href, {waitUntil: 'load'});
    if (screenshots) await page.screenshot({path: join(screenshots, `${view.name}-first.png`)});
    // As a reader does who wants to see everything.
    await page.evaluate(() => document.querySelectorAll('details').forEach((each) => each.setAttribute('open', '')));
    await page.waitForFunction(() => [...document.querySelectorAll('.chart')].every((chart) => chart.querySelector('svg')), {timeout: 600_000})
        .catch(() => problems.push(`${view.name}: a chart was not drawn`));
    const state = await page.evaluate(() => ({
        charts: document.querySelectorAll('.chart svg').length,
        tables: document.querySelectorAll('table').length,
        sections: document.querySelectorAll('section').length,
        width: document.documentElement.scrollWidth,
        small: [...document.querySelectorAll('p, li, td, th, dd, dt, figcaption')].filter((element) => parseFloat(getComputedStyle(element).fontSize) < 9).length,
        cramped: [...document.querySelectorAll('.chart.telephone .role-frame.root > g > path.background')].filter((plot) => plot.getBBox().width < 0.6 * innerWidth).length,
        telephone: document.querySelectorAll('.chart.telephone').length,
        cut: [...document.querySelectorAll('.scroll:has(> table)')].filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.textContent.slice(0, 60)),
        // A box that is lower than its table: the heading has to stay where the box begins.
        lost: [...document.querySelectorAll('.scroll:has(thead)')].filter((box) => {
            box.style.maxHeight = '10rem';
            box.scrollTop = box.scrollHeight;
            const isLost = box.scrollTop > 0 && Math.abs(box.querySelector('th').getBoundingClientRect().top - box.getBoundingClientRect().top) > 3;
            box.style.maxHeight = '';
            return isLost;
        }).map((box) => box.textContent.slice(0, 60)),
        bare: [...document.querySelectorAll('figure')].filter((figure) => figure.querySelector('.chart') && !figure.querySelector('table') && !/tables below/.test(figure.querySelector('figcaption').textContent)).length,
    }));
    Object.assign(found, {charts: state.charts, tables: state.tables, sections: state.sections});
    if (!view.media && state.width > view.width) problems.push(`${view.name}: the page is ${state.width} pixels wide on a screen of ${view.width}`);
    if (!view.media && state.small > 0) problems.push(`${view.name}: ${state.small} texts are smaller than 9 pixels`);
    for (const table of view.width > 400 ? [] : state.cut) problems.push(`${view.name}: a table is wider than the screen: ${table}`);
    for (const table of view.name === 'desktop' ? state.lost : []) problems.push(`${view.name}: a table loses its headings when it is scrolled: ${table}`);
    if (state.cramped > 0) problems.push(`${view.name}: ${state.cramped} charts have less than six tenths of the screen for what they show`);
    if (view.name === 'phone' && state.telephone === 0) problems.push('phone: no chart is fitted to it');
    if (state.bare > 0) problems.push(`${view.name}: ${state.bare} charts have no table`);
    for (const weak of await page.evaluate(contrast)) problems.push(`${view.name}: too little contrast: ${weak}`);
    if (view.name === 'desktop' || view.name === 'phone') await sort(page, view.name);
    if (screenshots) {
        await page.screenshot({path: join(screenshots, `${view.name}.png`)});
        await page.screenshot({path: join(screenshots, `${view.name}-whole.png`), fullPage: true}).catch(() => {});
        if (view.media) await page.pdf({path: join(screenshots, 'print.pdf'), format: 'A4'});
    }
    await page.close();
}
await browser.close();

// Presses each heading twice: with the mouse, and with Enter where the keyboard has led to it.
async function sort(page, name) {
    const unsorted = await page.evaluate(() => {
        const problems = [];
        for (const table of document.querySelectorAll('table:has(thead)')) {
            const rows = table.tBodies[0].rows.length;
            for (const heading of rows < 2 ? [] : table.tHead.rows[0].cells) {
                for (const turn of ['ascending', 'descending']) {
                    heading.querySelector('button')?.click();
                    const sorted = [...table.querySelectorAll('th[aria-sort]')];
                    if (sorted.length !== 1 || sorted[0] !== heading || heading.getAttribute('aria-sort') !== turn || table.tBodies[0].rows.length !== rows) {
                        problems.push(`a table does not sort by "${heading.textContent}", ${turn}`);
                    }
                }
            }
        }
        return problems;
    });
    for (const problem of unsorted) problems.push(`${name}: ${problem}`);
    const columns = await page.evaluate(() => [...document.querySelectorAll('table')].at(-1).tHead?.rows[0].cells.length ?? 0);
    found.sorted = [];
    for (let column = 0; column < columns; column++) {
        for (let press = 0; press < 2; press++) {
            const shown = await page.evaluate((column) => {
                const button = [...document.querySelectorAll('table')].at(-1).tHead.rows[0].cells[column].querySelector('button');
                button?.focus();
                return document.activeElement === button && button.checkVisibility();
            }, column);
            if (!shown) continue;
            await page.keyboard.press('Enter');
            found.sorted.push(await page.evaluate((column) => [...[...document.querySelectorAll('table')].at(-1).tBodies[0].rows].map((row) => row.cells[column].textContent).join(' | '), column));
        }
    }
}
process.stdout.write(JSON.stringify({problems: [...new Set(problems)], ...found}) + '\n');
