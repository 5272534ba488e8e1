// Steps of settings.mjs: one browser buys something in the shop of shop.inc, while another one looks at its pages.
export const use = async ({page, site, seen}) => {
    seen.other = [];
    // The cookies of each are its own.
    const open = async () => {
        const visitor = await (await page.browser().createBrowserContext()).newPage();
        visitor.setDefaultTimeout(0);
        visitor.setDefaultNavigationTimeout(0);
        visitor.on('pageerror', (error) => seen.errors.push(error.message));
        await visitor.setViewport({width: 390, height: 800, isMobile: true});
        return visitor;
    };
    const [mine, other] = [await open(), await open()];
    const text = (visitor, selector) => visitor.$eval(selector, (element) => element.textContent.trim());
    const stock = async (visitor) => Number((await text(visitor, '.stock')).match(/=(\d+);/)[1]);
    // By the keyboard alone.
    const press = async (name) => {
        for (let i = 0; i < 100; i++) {
            await mine.keyboard.press('Tab');
            if (await mine.evaluate((label) => document.activeElement.textContent.trim() === label, name)) {
                await Promise.all([mine.waitForNavigation(), mine.keyboard.press('Enter')]);
                return;
            }
        }
        throw new Error(`no key leads to "${name}"`);
    };
    const look = async () => {
        for (const path of ['/', '/product/gouda/', '/product/gouda/']) {
            const answer = await other.goto(site + path);
            seen.other.push({text: await text(other, 'body'), status: answer.headers()['cache-status'] ?? ''});
        }
    };

    await look();
    await mine.goto(`${site}/product/gouda/`);
    seen.stock = await stock(mine);
    await press('Add to cart');
    seen.cart = await text(mine, '#cart');
    await look();
    await mine.goto(`${site}/checkout/`);
    seen.overflow = await mine.evaluate(() => Math.max(0, document.documentElement.scrollWidth - window.innerWidth));
    await mine.focus('#name');
    await mine.keyboard.type('Browsermarker');
    await press('Place order');
    seen.thanks = await text(mine, '#thanks');
    await look();
    seen.left = await stock(other);
    await mine.goto(`${site}/`);
    seen.welcome = await text(mine, '#welcome');
};
