// What settings.mjs does with the dashboard in each of the admin's colour schemes: reads its colours, and goes through it by Tab.
export const use = async ({page, site, seen}) => {
    const open = async () => {
        await page.goto(`${site}/wp-admin/index.php?page=larder-dashboard`);
        await page.waitForFunction(() => document.querySelectorAll('#larder-dashboard .larder-chart canvas').length === 5);
        await page.waitForFunction(() => document.querySelectorAll('#larder-groups tbody th').length > 0);
    };
    // Of WCAG 2.1. Whatever lies over something else is mixed with it.
    const colours = () => page.evaluate(() => {
        const parts = (colour) => { const found = colour.match(/[\d.]+/g).map(Number); return [...found.slice(0, 3), found[3] ?? 1]; };
        const over = ([r, g, b, alpha], below) => [r, g, b].map((part, i) => part * alpha + below[i] * (1 - alpha));
        const luminance = (colour) => colour.map((part) => part / 255).map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)).reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
        const contrast = (one, other) => { const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b); return (light + 0.05) / (dark + 0.05); };
        const ground = (element) => (element === null ? [255, 255, 255] : over(parts(getComputedStyle(element).backgroundColor), ground(element.parentElement)));
        const all = [...document.querySelectorAll('.larder-dashboard *')].filter((element) => element.checkVisibility?.() ?? element.offsetParent !== null);
        const texts = all.filter((element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== '') && !element.closest('[disabled], [aria-disabled=true], .screen-reader-text, svg'));
        const lines = [...document.querySelectorAll('.larder-dashboard .larder-legend svg line, .larder-dashboard .larder-legend svg path')];
        const buttons = all.filter((element) => element.matches('.components-button.is-primary'));

        return {
            texts: texts.length,
            pale: texts.filter((element) => contrast(over(parts(getComputedStyle(element).color), ground(element)), ground(element)) < 4.5).map((element) => `${element.textContent.trim().slice(0, 40)} ${getComputedStyle(element).color}`),
            lines: lines.length,
            paleLines: lines.filter((line) => contrast(parts(getComputedStyle(line).stroke).slice(0, 3), ground(line.closest('.larder-card') ?? line.parentElement)) < 3).map((line) => line.outerHTML),
            colour: getComputedStyle(document.querySelector('.larder-dashboard')).getPropertyValue('--wp-admin-theme-color').trim(),
            buttons: [...new Set(buttons.map((button) => getComputedStyle(button).backgroundColor))],
        };
    });

    await page.setViewport({width: 1280, height: 900});
    await page.goto(`${site}/wp-admin/profile.php`);
    const names = await page.$$eval('input[name=admin_color]', (fields) => fields.map((field) => field.value));
    seen.schemes = {};
    for (const name of names) {
        await page.goto(`${site}/wp-admin/profile.php`);
        await page.$eval(`input[name=admin_color][value=${name}]`, (field) => { field.checked = true; });
        await Promise.all([page.waitForNavigation(), page.$eval('#submit', (button) => button.click())]);
        await open();
        seen.schemes[name] = await colours();
    }

    // From the title on, until the end: what can be used is reached, and shows that it is.
    await page.evaluate(() => {
        const title = document.querySelector('.larder-dashboard h1');
        title.tabIndex = -1;
        title.focus();
        window.looks = (element) => [element, element.nextElementSibling, element.parentElement].filter(Boolean).map((near) => { const style = getComputedStyle(near); return [style.outline, style.boxShadow, style.borderColor].join(); }).join('|');
        window.wanted = [...document.querySelectorAll('.larder-dashboard :is(a[href], button:not([disabled]), input, select, summary, [tabindex="0"])')].filter((element) => element.checkVisibility?.() ?? element.offsetParent !== null);
        window.before = new Map(window.wanted.map((element) => [element, window.looks(element)]));
        window.reached = new Set();
        window.unseen = [];
    });
    for (let i = 0; i < 500; i++) {
        await page.keyboard.press('Tab');
        if (!(await page.evaluate(() => {
            const at = document.activeElement;
            if (!at.closest('.larder-dashboard')) {
                return false;
            }
            window.reached.add(at);
            // A transition may be on its way.
            document.getAnimations().forEach((animation) => animation.finish());
            if (window.before.has(at) && window.before.get(at) === window.looks(at)) {
                window.unseen.push(at.outerHTML.slice(0, 200));
            }

            return true;
        }))) {
            break;
        }
    }
    seen.keyboard = await page.evaluate(() => ({reached: window.reached.size, missed: window.wanted.filter((element) => !window.reached.has(element)).map((element) => element.outerHTML.slice(0, 200)), unseen: window.unseen}));
};
