# `make` says what can be made. Everything here is short: the work is done by the scripts in tools/.

PHP ?= php

.DEFAULT_GOAL := help
.PHONY: record help releases redis-cost laravel-tests query-monitor-tests symfony-tests wordpress-calls wordpress-cost wordpress-layers wordpress-oracle wordpress-plugin wordpress-visitors bench calls charts test races hosts clients integrations leftovers model torture fuzz sanitize proofs builds ext lint fix clean packages vendor
.NOTPARALLEL:

help: ## this list
	@awk -F ' *## ' '/^[a-z-]+:.* ## / { sub(/:.*/, "", $$1); printf "make %-16s %s\n", $$1, $$2 }' Makefile

wordpress-calls: ext vendor ## a million random calls on each store to WordPress's object cache and to ours, which have to answer alike
	@LARDER_CALLS=1000000 PHP=$(PHP) tools/integration wordpress '' --filter DifferentialTest

wordpress-visitors: ext vendor ## ten thousand requests of twenty visitors of a shop over each store of pages, VISITS=10000: no cart or name in another's page, no old stock
	@LARDER_VISITS=$(or $(VISITS),10000) PHP=$(PHP) tools/integration wordpress '' --filter testNoCartOrName

wordpress-oracle: ext vendor ## after each of some 150 changes of a site its pages are what WordPress makes of them without any cache, over each store, CHANGES=200 AFTER=0 SEED=1
	@LARDER_CHANGES=$(or $(CHANGES),200) LARDER_SEED=$(SEED) LARDER_AFTER=$(AFTER) $(if $(CHANGE),LARDER_CHANGE='$(CHANGE)') PHP=$(PHP) tools/integration wordpress '' --filter OracleTest

wordpress-cost: ext vendor ## what WordPress's drop-in costs a request that asks it for nothing, beside core's own class
	@LARDER_EXTENSION=$(CURDIR)/ext/modules/larder.so $(PHP) -d extension=$(CURDIR)/ext/modules/larder.so integrations/wordpress/tests/cost.inc

wordpress-layers: ext vendor ## the instructions of a transient's set and delete, of a read of what a request has seen, and of a query, layer by layer
	@LARDER_EXTENSION=$(CURDIR)/ext/modules/larder.so $(PHP) integrations/wordpress/tests/layers.inc

wordpress-plugin: vendor ## build the plugin for WordPress with the library in it, build/larder-wordpress.zip
	@$(PHP) tools/wordpress-plugin

redis-cost: ext vendor ## the instructions that a read, a write and an invalidation over Redis take of the client and of the server
	@$(PHP) -d extension=$(CURDIR)/ext/modules/larder.so tools/redis-cost

bench: ext vendor ## measure the caches of this machine; SERVERS=1 installs Redis or Valkey, Memcached, nginx, php-fpm and WordPress, ARGS=… goes to `larder bench`
	@$(PHP) bin/larder bench $(ARGS)

charts: vendor ## fetch Vega-Lite, as bench/package-lock.json pins it with its licences, so that reports have charts without a network
	@$(PHP) -r 'require "vendor/autoload.php"; $$lack = Larder\Bench\Report\Charts::install(); if ($$lack !== null) { fwrite(STDERR, "$$lack\n"); exit(1); }'

record: ext vendor ## measure what the repository shows, docs/results and the README's table; takes about an hour and a half on a machine with nothing else to do
	@PHP=$(PHP) tools/record $(ARGS)

test: ext vendor ## run every suite, or those named by SUITES="engine image phpt tools unit contract bench system", and protocols, sanitized, software
	@PHP=$(PHP) tools/test $(SUITES)

clients: ext vendor ## Doctrine's ORM and components of Symfony over pools of ours come to what they come to over Symfony's; fetches their packages
	@PHP=$(PHP) tools/test clients

integrations: ext vendor ## test the integrations with each version of their frameworks; fetches packages
	@PHP=$(PHP) tools/integration

releases: ## as root: WordPress 6.8 and 7.1, Symfony 8, and the extension on PHP 8.5 and 8.6, each in its Debian; RELEASES="php-8.6" runs some
	@tools/packages chroot && tools/releases $(RELEASES)

query-monitor-tests: ext vendor ## run our panel in WordPress's plugin Query Monitor, from a clone of johnbillion/query-monitor: QUERY_MONITOR=<folder>
	@PHP=$(PHP) tools/query-monitor-tests "$(QUERY_MONITOR)"

laravel-tests: ext vendor ## run tests of Laravel's own stores on ours, from a clone of laravel/framework: LARAVEL=<folder>, VERSION=10
	@PHP=$(PHP) tools/laravel-tests "$(LARAVEL)" $(VERSION)

symfony-tests: ext vendor ## run tests of Symfony's own pools, locks and limiters on ours, from a clone of symfony/symfony: SYMFONY=<folder>, VERSION=6.4, CACHE_TESTS=<clone of php-cache/integration-tests>
	@PHP=$(PHP) CACHE_TESTS="$(CACHE_TESTS)" tools/symfony-tests "$(SYMFONY)" $(VERSION)

hosts: ext vendor ## two hosts in front of one Redis, a million operations while everything happens to it: nothing stale
	@PHP=$(PHP) tools/test hosts

leftovers: ext vendor ## a million writes, a hundred clears and 150,000 tags in every store, and what is left of them; takes half an hour with TMPDIR=/dev/shm, on a disk far longer
	@PHP=$(PHP) tools/test leftovers

model: packages ## verify the models of the engine's protocols with Spin, within wider bounds than `make test SUITES=protocols` does
	@$(MAKE) --no-print-directory -C ext/engine-tests model

races: ext vendor ## eight processes on each store at once, a minute each or RACE_SECONDS: nothing stale, no lost update, no exception
	@PHP=$(PHP) tools/test races

torture: packages ## kill and stop processes in the middle of everything, at least 10,000 times; takes a while
	@$(MAKE) --no-print-directory -C ext/engine-tests torture

fuzz: packages ## libFuzzer on what the engine may find in a pool's place, and on values; FUZZ_SECONDS=60 for each target
	@$(MAKE) --no-print-directory -C ext/engine-tests fuzz
	@$(MAKE) --no-print-directory -C ext/engine-tests/image fuzz

sanitize: ext ## the tests of the extension, its images and its engine under ASan, UBSan and Valgrind; `make test SUITES=sanitized` has time for some
	@PHP=$(PHP) tools/test sanitizers

proofs: model torture sanitize fuzz ## those four, the suite protocols, and all mutations of the engine and the extension; takes many hours
	@PHP=$(PHP) tools/test protocols
	@$(MAKE) --no-print-directory -C ext/engine-tests mutations
	@$(PHP) ext/tests/mutations

builds: ext vendor ## test the extension, and PHP with it, on a PHP for threads and a debugging one, made from the distribution's source; BUILDS="zts debug"
	@PHP=$(PHP) tools/builds $(BUILDS)

calls: ## call every function of PHP and of the extensions that Debian has packages of with cached values, in a Debian of its own; as root
	@tools/calls $(RELEASE)

ext: packages ## build the extension, ext/modules/larder.so, for the PHP on the PATH
	@PHP=$(PHP) tools/build-extension

lint: vendor ## analyse and check the style of everything, or of LINTERS="arrows places prose shell phpstan style format warnings aarch64 cppcheck tidy"
	@PHP=$(PHP) tools/lint $(LINTERS)

fix: vendor ## let the formatters rewrite what they would complain about
	@PHP=$(PHP) tools/lint --fix

clean: ## remove everything that was built
	rm -rf build ext/modules vendor composer.lock report.html report.json
	rm -f $(foreach left,diff exp log mem out php sh,ext/tests/*.$(left) ext/engine-tests/image/tests/*.$(left))

# Distribution packages that the goals need; tools/packages knows their names.
PURPOSES   = build
bench: PURPOSES += bench $(if $(SERVERS),servers wordpress)
# The report's charts need npm; without it, it has tables. That is no reason to stop a user who is not root.
bench: PURPOSES += $(if $(filter 0,$(shell id -u)),charts)
record: PURPOSES += bench servers charts wordpress
charts: PURPOSES += charts
test races hosts clients integrations laravel-tests query-monitor-tests symfony-tests leftovers: PURPOSES  += bench charts servers proof browser
sanitize wordpress-layers: PURPOSES += bench
redis-cost: PURPOSES += bench servers
model: PURPOSES += proof
fuzz: PURPOSES  += fuzz
builds: PURPOSES += builds
proofs: PURPOSES += bench proof fuzz
lint: PURPOSES  += lint
packages:
	@tools/packages $(PURPOSES)

vendor: vendor/autoload.php ; @:
vendor/autoload.php: composer.json | packages
	@tools/composer-packages
	@touch $@
