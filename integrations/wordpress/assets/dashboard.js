/**
 * The dashboard of Larder, in WordPress's own components. It needs no build step.
 */
( function ( wp, uPlot, larder ) {
	'use strict';

	const { createElement: el, Fragment, useEffect, useRef, useState } = wp.element;
	const { Button, Card, CardBody, CardHeader, Notice, TextControl, ToggleControl } = wp.components;
	const { __, sprintf } = wp.i18n;

	/** Milliseconds from one look at the figures to the next. */
	const PERIOD = 5000;

	/** Rows of a chart's table. */
	const ROWS = 24;

	/** That of the page, or the nearest that the browser knows as one: WordPress has names such as pt-PT-ao90, which is none. */
	const language = ( () => {
		for ( let tag = document.documentElement.lang; tag !== ''; tag = tag.slice( 0, Math.max( 0, tag.lastIndexOf( '-' ) ) ) ) {
			try {
				return Intl.getCanonicalLocales( tag )[ 0 ];
			} catch ( error ) {
				// Without its last part it may be one.
			}
		}
		return undefined;
	} )();

	const number = ( value, digits = 0 ) =>
		value === null || value === undefined ? '–' : value.toLocaleString( language, { maximumFractionDigits: digits } );
	const precise = ( value ) => number( value, value >= 100 ? 0 : value >= 10 ? 1 : 2 );
	const time = ( seconds ) => new Date( seconds * 1000 ).toLocaleString( language, { dateStyle: 'short', timeStyle: 'medium' } );

	/** Below a chart of a day at most. */
	const clock = ( u, values ) =>
		values.map( ( value ) => new Date( value * 1000 ).toLocaleTimeString( language, { timeStyle: values[ values.length - 1 ] - values[ 0 ] < 600 ? 'medium' : 'short' } ) );

	/** The colour by which the admin's scheme marks where one is, dark enough for text and lines on white, and for the light grey in which WordPress 7 may write on it. */
	const schemeColor = () => {
		const item = document.querySelector( '#adminmenu .wp-has-current-submenu > a, #adminmenu .current > a' );
		const found = item ? window.getComputedStyle( item ).backgroundColor.match( /^rgb\((\d+), (\d+), (\d+)\)$/ ) : null;
		let parts = found ? found.slice( 1 ).map( Number ) : [ 34, 113, 177 ];
		// WCAG 2.1: relative luminance, of which white has 1, and that grey 0.87.
		const luminance = () =>
			parts
				.map( ( part ) => part / 255 )
				.map( ( part ) => ( part <= 0.03928 ? part / 12.92 : ( ( part + 0.055 ) / 1.055 ) ** 2.4 ) )
				.reduce( ( sum, part, i ) => sum + part * [ 0.2126, 0.7152, 0.0722 ][ i ], 0 );
		while ( 0.92 / ( luminance() + 0.05 ) < 4.5 ) {
			parts = parts.map( ( part ) => Math.floor( part * 0.95 ) );
		}
		return parts;
	};

	const rgb = ( parts, factor = 1 ) => `rgb(${ parts.map( ( part ) => Math.floor( part * factor ) ).join( ', ' ) })`;

	/** Lines differ by more than their colour. */
	const styles = ( color ) => [
		{ stroke: color, width: 2, dash: [] },
		{ stroke: '#1d2327', width: 1.5, dash: [ 6, 4 ] },
		{ stroke: '#50575e', width: 1.5, dash: [ 2, 3 ] },
	];

	const Table = ( { label, columns, rows, empty } ) =>
		el(
			'div',
			{ className: 'larder-scroll', role: 'region', 'aria-label': label, tabIndex: 0 },
			el(
				'table',
				{ className: 'widefat striped' },
				el( 'caption', { className: 'screen-reader-text' }, label ),
				el(
					'thead',
					null,
					el( 'tr', null, columns.map( ( column, i ) => el( 'th', { key: i, scope: 'col', className: column.isText ? '' : 'larder-number' }, column.label ) ) )
				),
				el(
					'tbody',
					null,
					rows.length === 0
						? el( 'tr', null, el( 'td', { colSpan: columns.length }, empty || __( 'Nothing yet.', 'larder' ) ) )
						: rows.map( ( row, r ) =>
								el(
									'tr',
									{ key: r },
									row.map( ( cell, i ) =>
										i === 0
											? el( 'th', { key: i, scope: 'row' }, cell )
											: el( 'td', { key: i, className: columns[ i ].isText ? '' : 'larder-number' }, cell )
									)
								)
						  )
				)
			)
		);

	const Section = ( { title, children, id } ) =>
		el( Card, { className: 'larder-card', id }, el( CardHeader, null, el( 'h2', null, title ) ), el( CardBody, null, children ) );

	/** A chart, and beside it a table of the same figures. It is drawn anew only where its figures are others. */
	const Chart = ( { title, unit, x, series, xLabel, isTime = true, isLog = false, digits = 1, format = time, told = x.length - 1 } ) => {
		const place = useRef( null );
		const plot = useRef( null );
		const lines = styles( rgb( schemeColor() ) );
		const show = ( value ) => ( value === null || value === undefined ? '–' : `${ number( value, digits ) }${ unit ? ' ' + unit : '' }` );
		useEffect( () => {
			const width = () => Math.max( 200, place.current.clientWidth );
			const axis = { stroke: '#50575e', grid: { stroke: '#dcdcde', width: 1 }, ticks: { stroke: '#dcdcde', width: 1 } };
			plot.current = new uPlot(
				{
					width: width(),
					height: 200,
					legend: { show: false },
					cursor: { show: false },
					scales: { x: { time: isTime, range: ( u, min, max ) => ( u.data[ 0 ].length === 1 ? [ min - 30, min + 30 ] : [ min, max ] ) }, y: isLog ? { distr: 3 } : { range: ( u, min, max ) => [ 0, max > 0 ? max * 1.05 : 1 ] } },
					axes: [ isTime ? { ...axis, space: 90, values: clock } : axis, { ...axis, size: 62, values: ( u, values ) => values.map( ( value ) => ( value === null ? '' : number( value, 2 ) ) ) } ],
					series: [ {}, ...series.map( ( one, i ) => ( { label: one.label, ...lines[ i ], points: { show: x.length < 3 } } ) ) ],
				},
				[ x, ...series.map( ( one ) => one.values ) ],
				place.current
			);
			const observer = new ResizeObserver( () => plot.current && plot.current.setSize( { width: width(), height: 200 } ) );
			observer.observe( place.current );
			return () => {
				observer.disconnect();
				plot.current.destroy();
				plot.current = null;
			};
		}, [] );
		useEffect( () => {
			if ( plot.current ) {
				plot.current.setData( [ x, ...series.map( ( one ) => one.values ) ] );
			}
		} );
		const newest = series.map( ( one ) => `${ one.label }: ${ show( one.values[ told ] ) }` ).join( ', ' );
		const rows = x.map( ( at, i ) => [ format( at ), ...series.map( ( one ) => show( one.values[ i ] ) ) ] );
		return el(
			Section,
			{ title },
			el(
				'ul',
				{ className: 'larder-legend' },
				series.map( ( one, i ) =>
					el(
						'li',
						{ key: i },
						el( 'svg', { width: 28, height: 6, 'aria-hidden': true }, el( 'line', { x1: 0, y1: 3, x2: 28, y2: 3, stroke: lines[ i ].stroke, strokeWidth: 2, strokeDasharray: lines[ i ].dash.join( ' ' ) } ) ),
						`${ one.label }: `,
						el( 'strong', null, show( one.values[ told ] ) )
					)
				)
			),
			/* translators: 1: the title of a chart, 2: its newest figures, or medians. */
			el( 'div', { ref: place, className: 'larder-chart', role: 'img', 'aria-label': sprintf( __( 'Chart: %1$s. %2$s. The table below has all figures.', 'larder' ), title, newest ) } ),
			el(
				'details',
				null,
				/* translators: %s: the title of a chart. */
				el( 'summary', null, sprintf( __( '%s as a table', 'larder' ), title ) ),
				el( Table, {
					label: title,
					columns: [ { label: xLabel || __( 'Time', 'larder' ), isText: true }, ...series.map( ( one ) => ( { label: one.label } ) ) ],
					rows: isTime ? rows.slice( -ROWS ).reverse() : rows,
				} )
			)
		);
	};

	/** Counters only grow: what lies between two looks is their difference. A store that began anew leaves a gap. */
	const changes = ( columns, rows ) => {
		const named = rows.map( ( row ) => Object.fromEntries( columns.map( ( name, i ) => [ name, row[ i ] ] ) ) );
		const counters = columns.filter( ( name ) => ! [ 'at', 'items', 'used', 'size' ].includes( name ) );
		return named.slice( 1 ).map( ( row, i ) => {
			const before = named[ i ];
			const seconds = row.at - before.at;
			const isGap = seconds <= 0 || counters.some( ( name ) => row[ name ] < before[ name ] );
			const of = ( name ) => ( isGap ? null : row[ name ] - before[ name ] );
			return { ...row, seconds, isGap, of, per: ( amount, unit ) => ( isGap ? null : ( amount / seconds ) * unit ) };
		} );
	};

	const share = ( part, rest ) => ( part === null || part + rest === 0 ? null : ( part / ( part + rest ) ) * 100 );

	const Charts = ( { columns, rows, query } ) => {
		const points = changes( columns, rows );
		if ( points.length === 0 ) {
			return el( 'p', null, __( 'The charts begin with the second look at the figures, in a few seconds.', 'larder' ) );
		}
		const x = points.map( ( point ) => point.at );
		const values = ( make ) => points.map( ( point ) => ( point.isGap ? null : make( point ) ) );
		const minute = __( 'a minute', 'larder' );
		return el(
			'div',
			{ className: 'larder-grid' },
			el( Chart, {
				title: __( 'Hit ratio', 'larder' ),
				unit: '%',
				x,
				series: [
					{ label: __( 'Object cache', 'larder' ), values: values( ( p ) => share( p.of( 'hits' ), p.of( 'misses' ) ) ) },
					{ label: __( 'Page cache', 'larder' ), values: values( ( p ) => share( p.of( 'page-hits' ), p.of( 'requests' ) ) ) },
				],
			} ),
			el( Chart, {
				title: __( 'Operations a second', 'larder' ),
				x,
				series: [
					{ label: __( 'Reads', 'larder' ), values: values( ( p ) => p.per( p.of( 'hits' ) + p.of( 'misses' ), 1 ) ) },
					{ label: __( 'Writes', 'larder' ), values: values( ( p ) => p.per( p.of( 'sets' ), 1 ) ) },
					{ label: __( 'Deletes', 'larder' ), values: values( ( p ) => p.per( p.of( 'deletes' ), 1 ) ) },
				],
			} ),
			el( Chart, {
				title: __( 'Memory', 'larder' ),
				unit: 'MB',
				x,
				series: [
					{ label: __( 'In use', 'larder' ), values: points.map( ( p ) => p.used / 1048576 ) },
					{ label: __( 'At most', 'larder' ), values: points.map( ( p ) => ( p.size > 0 ? p.size / 1048576 : null ) ) },
				],
			} ),
			el( Chart, {
				title: sprintf( '%s (%s)', __( 'Time saved', 'larder' ), minute ),
				unit: 's',
				digits: 2,
				x,
				series: [
					{ label: __( 'By the object cache, at least', 'larder' ), values: values( ( p ) => p.per( ( p.of( 'saved' ) * query ) / 1e6, 60 ) ) },
					{ label: __( 'By the page cache', 'larder' ), values: values( ( p ) => p.per( p.of( 'page-ms' ) / 1000, 60 ) ) },
				],
			} ),
			el( Chart, {
				title: sprintf( '%s (%s)', __( 'Queries of the database', 'larder' ), minute ),
				x,
				series: [
					{ label: __( 'Saved by the object cache', 'larder' ), values: values( ( p ) => p.per( p.of( 'saved' ), 60 ) ) },
					{ label: __( 'Saved by the page cache', 'larder' ), values: values( ( p ) => p.per( p.of( 'page-queries' ), 60 ) ) },
					{ label: __( 'Made', 'larder' ), values: values( ( p ) => p.per( p.of( 'queries' ), 60 ) ) },
				],
			} )
		);
	};

	const NAMES = {
		add: __( 'Add', 'larder' ),
		count: __( 'Count', 'larder' ),
		delete: __( 'Delete', 'larder' ),
		fill: __( 'Fill', 'larder' ),
		get: __( 'Get', 'larder' ),
		'get for change': __( 'Get for a change', 'larder' ),
		'get many': __( 'Get many', 'larder' ),
		invalidate: __( 'Invalidate', 'larder' ),
		set: __( 'Set', 'larder' ),
		'set many': __( 'Set many', 'larder' ),
	};

	const FIGURES = [
		[ 'n', __( 'n', 'larder' ) ],
		[ 'min', __( 'min', 'larder' ) ],
		[ 'p1', __( 'p1', 'larder' ) ],
		[ 'p5', __( 'p5', 'larder' ) ],
		[ 'median', __( 'median', 'larder' ) ],
		[ 'mean', __( 'mean', 'larder' ) ],
		[ 'p95', __( 'p95', 'larder' ) ],
		[ 'p99', __( 'p99', 'larder' ) ],
		[ 'max', __( 'max', 'larder' ) ],
		[ 'range', __( 'range', 'larder' ) ],
		[ 'mad', __( 'MAD', 'larder' ) ],
		[ 'stdev', __( 'stdev', 'larder' ) ],
	];

	const Percentiles = ( { label, operations } ) =>
		el( Table, {
			label,
			columns: [ { label: __( 'Operation', 'larder' ), isText: true }, ...FIGURES.map( ( [ , title ] ) => ( { label: title } ) ) ],
			rows: Object.entries( operations ).map( ( [ name, of ] ) => [ NAMES[ name ] || name, ...FIGURES.map( ( [ figure ] ) => ( figure === 'n' ? number( of.n ) : precise( of[ figure ] ) ) ) ] ),
		} );

	const GroupsCard = () => {
		const [ found, setFound ] = useState( null );
		const [ isBusy, setBusy ] = useState( false );
		const count = () => {
			setBusy( true );
			wp.apiFetch( { path: '/larder/v1/groups' } )
				.then( setFound, ( error ) => wp.a11y.speak( error.message, 'assertive' ) )
				.finally( () => setBusy( false ) );
		};
		useEffect( count, [] );
		return el(
			Section,
			{ title: __( 'Biggest groups', 'larder' ), id: 'larder-groups' },
			el( Table, {
				label: __( 'Biggest groups', 'larder' ),
				columns: [ { label: __( 'Group', 'larder' ), isText: true }, { label: __( 'Items', 'larder' ) }, { label: __( 'KB, about', 'larder' ) } ],
				rows: ( found ? found.groups : [] )
					.slice( 0, 15 )
					.map( ( one ) => [ el( 'code', null, one.group === '' ? __( '(pages)', 'larder' ) : one.group ), number( one.items ), one.bytes === null ? '–' : precise( one.bytes / 1024 ) ] ),
			} ),
			found && ! found.isWhole && el( 'p', null, __( 'There are too many items to count them all; this is a part.', 'larder' ) ),
			el( 'p', null, el( Button, { variant: 'secondary', isBusy, onClick: count }, __( 'Count again', 'larder' ) ) )
		);
	};

	const FlushCard = ( { onDone } ) => {
		const [ said, setSaid ] = useState( null );
		const [ group, setGroup ] = useState( '' );
		const [ page, setPage ] = useState( '' );
		const [ site, setSite ] = useState( String( larder.site ) );
		const flush = ( what, name, done ) => () => {
			wp.apiFetch( { path: '/larder/v1/flush', method: 'POST', data: { what, name } } ).then(
				() => {
					setSaid( { status: 'success', text: done } );
					wp.a11y.speak( done );
					onDone();
				},
				( error ) => {
					setSaid( { status: 'error', text: error.message } );
					wp.a11y.speak( error.message, 'assertive' );
				}
			);
		};
		const submit = ( action ) => ( event ) => {
			event.preventDefault();
			action();
		};
		const line = ( id, label, value, change, button, action ) =>
			el(
				'form',
				{ className: 'larder-row', id, onSubmit: submit( action ) },
				el( TextControl, { label, value, onChange: change, __nextHasNoMarginBottom: true } ),
				el( Button, { variant: 'secondary', type: 'submit' }, button )
			);
		return el(
			Section,
			{ title: __( 'Flush', 'larder' ), id: 'larder-flush' },
			said && el( Notice, { status: said.status, onRemove: () => setSaid( null ) }, said.text ),
			el(
				'div',
				{ className: 'larder-row' },
				el( Button, { variant: 'primary', onClick: flush( 'everything', '', __( 'Everything is flushed.', 'larder' ) ) }, __( 'Flush everything', 'larder' ) ),
				el( Button, { variant: 'secondary', onClick: flush( 'cache', '', __( 'The object cache is flushed.', 'larder' ) ) }, __( 'Flush the object cache', 'larder' ) ),
				el( Button, { variant: 'secondary', onClick: flush( 'pages', '', __( 'All pages are cleared.', 'larder' ) ) }, __( 'Clear all pages', 'larder' ) )
			),
			larder.isNetwork && line( 'larder-flush-site', __( 'Number of a site', 'larder' ), site, setSite, __( 'Flush the site', 'larder' ), flush( 'site', site, __( 'The site is flushed.', 'larder' ) ) ),
			line( 'larder-flush-group', __( 'Name of a group', 'larder' ), group, setGroup, __( 'Flush the group', 'larder' ), flush( 'group', group, __( 'The group is flushed.', 'larder' ) ) ),
			line( 'larder-flush-page', __( 'Address of a page', 'larder' ), page, setPage, __( 'Clear the page', 'larder' ), flush( 'page', page, __( 'The page is cleared.', 'larder' ) ) ),
			el( 'p', null, el( 'a', { href: larder.settings }, __( 'Exclude paths, cookies and browsers from the page cache', 'larder' ) ) )
		);
	};

	const OPERATIONS = [
		[ 'set', __( 'Set', 'larder' ) ],
		[ 'get', __( 'Get', 'larder' ) ],
		[ 'delete', __( 'Delete', 'larder' ) ],
	];

	const PLACES = [
		[ 'cache', __( 'Object cache', 'larder' ) ],
		[ 'database', __( 'Database', 'larder' ) ],
	];

	/** The shares of all times, in percent, at which the charts have a point. */
	const PERCENTS = Array.from( { length: 99 }, ( _, i ) => i + 1 );

	const MeasureCard = () => {
		const [ done, setDone ] = useState( null );
		const [ found, setFound ] = useState( null );
		const [ failed, setFailed ] = useState( null );
		const isStopped = useRef( false );
		const post = ( route, data ) => wp.apiFetch( { path: `/larder/v1/${ route }`, method: 'POST', data } );
		const measure = async () => {
			const run = Array.from( window.crypto.getRandomValues( new Uint8Array( 4 ) ), ( byte ) => byte.toString( 16 ).padStart( 2, '0' ) ).join( '' );
			const times = {};
			isStopped.current = false;
			setFound( null );
			setFailed( null );
			setDone( 0 );
			wp.a11y.speak( __( 'The measurement has begun.', 'larder' ) );
			try {
				let steps = 0;
				for ( const [ operation ] of OPERATIONS ) {
					for ( const [ place ] of PLACES ) {
						const all = ( times[ `${ operation } ${ place }` ] = [] );
						for ( let from = 0; from < larder.transients && ( operation === 'delete' || ! isStopped.current );  ) {
							const step = await post( 'measure', { run, place, operation, from } );
							if ( step.wrong > 0 && ! isStopped.current ) {
								throw new Error( __( 'A transient was not what had been set; another process flushed the cache, or the store is full.', 'larder' ) );
							}
							all.push( ...step.times );
							from = step.next;
							setDone( ( steps + from / larder.transients ) / 6 );
						}
						steps++;
					}
				}
				if ( ! isStopped.current ) {
					const summaries = {};
					for ( const [ name, all ] of Object.entries( times ) ) {
						summaries[ name ] = { ...( await post( 'summary', { times: all } ) ), sorted: all.sort( ( one, other ) => one - other ) };
					}
					setFound( summaries );
					wp.a11y.speak( __( 'The measurement is done.', 'larder' ) );
				}
			} catch ( error ) {
				setFailed( error.message );
				wp.a11y.speak( error.message, 'assertive' );
			}
			setDone( null );
		};
		const at = ( sorted, percent ) => sorted[ Math.round( ( percent / 100 ) * ( sorted.length - 1 ) ) ];
		return el(
			Section,
			{ title: __( 'Measure this site', 'larder' ), id: 'larder-measure' },
			/* translators: %d: a number of transients. */
			el( 'p', null, sprintf( __( 'Sets, gets and deletes %d transients in this site, through the object cache and in the database without it. It takes some seconds, and leaves nothing behind.', 'larder' ), larder.transients ) ),
			el(
				'div',
				{ className: 'larder-row' },
				el( Button, { variant: 'primary', isBusy: done !== null, 'aria-disabled': done !== null, onClick: () => done === null && measure() }, __( 'Measure this site', 'larder' ) ),
				done !== null && el( Button, { variant: 'secondary', onClick: () => ( isStopped.current = true ) }, __( 'Stop', 'larder' ) ),
				done !== null && el( 'progress', { max: 1, value: done, 'aria-label': __( 'Progress of the measurement', 'larder' ) } )
			),
			failed && el( Notice, { status: 'error', onRemove: () => setFailed( null ) }, failed ),
			found &&
				el(
					Fragment,
					null,
					el(
						'p',
						{ id: 'larder-measured' },
						sprintf(
							/* translators: 1 and 2: microseconds, 3: their ratio. */
							__( 'The object cache gets a transient in %1$s µs, the database in %2$s µs (medians): %3$s times as long.', 'larder' ),
							precise( found[ 'get cache' ].median ),
							precise( found[ 'get database' ].median ),
							precise( found[ 'get database' ].median / found[ 'get cache' ].median )
						)
					),
					el( Percentiles, {
						label: __( 'Microseconds of a transient', 'larder' ),
						operations: Object.fromEntries( OPERATIONS.flatMap( ( [ operation, title ] ) => PLACES.map( ( [ place, where ] ) => [ `${ title }: ${ where }`, found[ `${ operation } ${ place }` ] ] ) ) ),
					} ),
					el(
						'div',
						{ className: 'larder-grid' },
						OPERATIONS.map( ( [ operation, title ] ) =>
							el( Chart, {
								key: operation,
								/* translators: %s: set, get or delete. */
								title: sprintf( __( '%s: microseconds by percentile', 'larder' ), title ),
								unit: 'µs',
								digits: 2,
								xLabel: __( 'Percentile', 'larder' ),
								isTime: false,
								isLog: true,
								format: ( percent ) => `p${ percent }`,
								x: PERCENTS,
								told: PERCENTS.indexOf( 50 ),
								/* translators: %s: the object cache, or the database. */
								series: PLACES.map( ( [ place, where ] ) => ( { label: sprintf( __( '%s, median', 'larder' ), where ), values: PERCENTS.map( ( percent ) => at( found[ `${ operation } ${ place }` ].sorted, percent ) ) } ) ),
							} )
						)
					)
				)
		);
	};

	const Dashboard = () => {
		const [ figures, setFigures ] = useState( null );
		const [ rows, setRows ] = useState( [] );
		const [ error, setError ] = useState( null );
		const [ isLive, setLive ] = useState( true );
		const look = () =>
			wp.apiFetch( { path: '/larder/v1/figures' } ).then(
				( found ) => {
					setError( null );
					setFigures( found );
					setRows( ( before ) => {
						// What was seen here is closer together than what is kept; both are in the order of time.
						const all = new Map( [ ...found.rows, ...before, ...( found.now ? [ found.now ] : [] ) ].map( ( row ) => [ row[ 0 ], row ] ) );
						return [ ...all.values() ].sort( ( one, other ) => one[ 0 ] - other[ 0 ] ).slice( -1000 );
					} );
				},
				( failure ) => setError( failure.message )
			);
		useEffect( () => {
			look();
		}, [] );
		useEffect( () => {
			if ( ! isLive ) {
				return undefined;
			}
			const timer = setInterval( () => document.visibilityState === 'visible' && look(), PERIOD );
			return () => clearInterval( timer );
		}, [ isLive ] );
		if ( figures === null ) {
			return el( 'p', null, error || __( 'Reading the figures …', 'larder' ) );
		}
		const { requests } = figures;
		return el(
			Fragment,
			null,
			error && el( Notice, { status: 'error', isDismissible: false }, error ),
			figures.problems.map( ( problem, i ) => el( Notice, { key: i, status: 'warning', isDismissible: false }, problem ) ),
			requests === null
				? el( 'p', null, __( 'There are figures only while the object cache of this plugin is on.', 'larder' ) )
				: el(
						Fragment,
						null,
						el( ToggleControl, { label: __( 'Look at the figures every five seconds', 'larder' ), checked: isLive, onChange: setLive, __nextHasNoMarginBottom: true } ),
						figures.sample === 0 && el( Notice, { status: 'info', isDismissible: false }, __( 'WP_LARDER_SAMPLE is 0: no request is measured.', 'larder' ) ),
						el( Charts, { columns: figures.columns, rows, query: requests.query } ),
						el(
							Section,
							{ title: __( 'Microseconds of each operation', 'larder' ), id: 'larder-operations' },
							el( Percentiles, { label: __( 'Microseconds of each operation', 'larder' ), operations: requests.operations } ),
							/* translators: 1: a number of requests, 2: of how many requests one is measured. */
							el( 'p', { className: 'description' }, sprintf( __( 'Of the last %1$d measured requests; one of %2$d is.', 'larder' ), requests.measured, figures.sample ) )
						),
						el( MeasureCard ),
						figures.made &&
							figures.made.made > 0 &&
							el(
								Section,
								{ title: __( 'Why pages were made', 'larder' ), id: 'larder-made' },
								el( Table, {
									label: __( 'Why pages were made', 'larder' ),
									columns: [ { label: __( 'Reason', 'larder' ), isText: true }, { label: __( 'Pages', 'larder' ) } ],
									rows: figures.made.reasons.map( ( reason ) => [ reason.why, number( reason.times, 0 ) ] ),
								} ),
								/* translators: %d: a number of pages. */
								el( 'p', { className: 'description' }, sprintf( __( 'Of the %d pages that WordPress made in those requests. The page cache serves the others without it.', 'larder' ), figures.made.made ) )
							),
						el(
							'div',
							{ className: 'larder-grid' },
							el( FlushCard, { onDone: look } ),
							el( GroupsCard ),
							el(
								Section,
								{ title: __( 'Slowest keys', 'larder' ), id: 'larder-slowest' },
								el( Table, {
									label: __( 'Slowest keys', 'larder' ),
									columns: [ { label: __( 'Key', 'larder' ), isText: true }, { label: __( 'Operation', 'larder' ), isText: true }, { label: __( 'µs', 'larder' ) }, { label: __( 'Time', 'larder' ), isText: true } ],
									rows: requests.slowest.map( ( call ) => [ el( 'code', null, call.key ), NAMES[ call.operation ] || call.operation, precise( call.us ), time( call.at ) ] ),
								} )
							),
							el(
								Section,
								{ title: __( 'Last purges', 'larder' ), id: 'larder-purges' },
								el( Table, {
									label: __( 'Last purges', 'larder' ),
									columns: [ { label: __( 'Time', 'larder' ), isText: true }, { label: __( 'Reasons', 'larder' ), isText: true }, { label: __( 'By', 'larder' ), isText: true } ],
									rows: figures.purges
										.slice( 0, 20 )
										.map( ( purge ) => [
											time( purge.at ),
											/* translators: %d: a number of reasons. */
											purge.reasons.join( ', ' ) + ( purge.more > 0 ? ' ' + sprintf( __( 'and %d more', 'larder' ), purge.more ) : '' ),
											[ purge.user, purge.where ].filter( Boolean ).join( ', ' ),
										] ),
								} )
							)
						)
				  )
		);
	};

	wp.domReady( () => {
		const root = document.getElementById( 'larder-dashboard' );
		// Not every WordPress tells its components the scheme.
		const color = schemeColor();
		const { style } = root.closest( '.larder-dashboard' );
		style.setProperty( '--wp-admin-theme-color', rgb( color ) );
		style.setProperty( '--wp-admin-theme-color-darker-10', rgb( color, 0.9 ) );
		style.setProperty( '--wp-admin-theme-color-darker-20', rgb( color, 0.8 ) );
		if ( wp.element.createRoot ) {
			wp.element.createRoot( root ).render( el( Dashboard ) );
		} else {
			wp.element.render( el( Dashboard ), root );
		}
	} );
} )( window.wp, window.uPlot, window.larderDashboard );
