'use strict';
// Draws each chart where its specification stands. SVG, so that the style sheet colours text and lines: one drawing
// serves the light page, the dark page and paper.
for (const place of document.querySelectorAll('.chart')) {
    const specification = JSON.parse(place.querySelector('script').textContent);
    vegaEmbed(place, specification, {
        mode: 'vega-lite',
        renderer: 'svg',
        actions: false,
        logLevel: vega.Error,
        config: {
            background: 'transparent',
            view: {stroke: null},
            axis: {labelFontSize: 12, titleFontSize: 12, titleFontWeight: 'normal'},
            legend: {labelFontSize: 12},
            font: 'system-ui, sans-serif',
        },
    });
}
