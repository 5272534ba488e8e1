<?php

declare(strict_types=1);

namespace Larder\Tests\Clients;

use Doctrine\DBAL\DriverManager;
use Doctrine\DBAL\Logging\Middleware;
use Doctrine\ORM\Cache\CacheConfiguration;
use Doctrine\ORM\Cache\DefaultCacheFactory;
use Doctrine\ORM\Cache\RegionsConfiguration;
use Doctrine\ORM\Configuration;
use Doctrine\ORM\EntityManager;
use Doctrine\ORM\Events;
use Doctrine\ORM\Mapping\Driver\AttributeDriver;
use Doctrine\ORM\Tools\SchemaTool;
use Larder\Tests\Contract\Crowd;
use Larder\Tests\MemoryLogger;
use Larder\Tests\Scratch;
use Psr\Cache\CacheItemPoolInterface;
use Symfony\Component\Cache\Adapter\ArrayAdapter;
use Symfony\Component\Cache\Adapter\ChainAdapter;
use Symfony\Component\Cache\Adapter\ProxyAdapter;
use Symfony\Component\Cache\Adapter\TagAwareAdapter;
use Symfony\Component\ExpressionLanguage\ExpressionLanguage;
use Symfony\Component\PropertyInfo\Extractor\ReflectionExtractor;
use Symfony\Component\PropertyInfo\PropertyInfoCacheExtractor;
use Symfony\Component\PropertyInfo\PropertyInfoExtractor;
use Symfony\Component\RateLimiter\RateLimiterFactory;
use Symfony\Component\RateLimiter\Storage\CacheStorage;
use Symfony\Component\Serializer\Mapping\Factory\CacheClassMetadataFactory;
use Symfony\Component\Serializer\Mapping\Factory\ClassMetadataFactory;
use Symfony\Component\Serializer\Mapping\Loader\AttributeLoader;
use Symfony\Component\Serializer\NameConverter\MetadataAwareNameConverter;
use Symfony\Component\Validator\Validation;
use Symfony\Contracts\Cache\ItemInterface;

/** What clients do with a pool, each twice: first it is empty, then it has what it was given. What they come to does not depend on whose pool it is. */
final class Work
{
    /** @return array<string, \Closure(CacheItemPoolInterface): list<mixed>> what a client does, and what it comes to */
    public static function all(): array
    {
        return [
            'expressions' => self::expressions(...),
            'validation' => self::validation(...),
            'properties' => self::properties(...),
            'metadata of a serializer' => self::metadata(...),
            'tags of Symfony' => self::tags(...),
            'a chain of Symfony' => self::chain(...),
            'entities' => self::entities(...),
            'rate limits' => self::limits(...),
        ];
    }

    /** @return list<mixed> */
    public static function expressions(CacheItemPoolInterface $pool): array
    {
        $results = [];
        foreach (['first', 'again'] as $_) {
            $language = new ExpressionLanguage($pool);
            foreach (['a + b * 2', 'a in [1, 2, 3] and not (b > 5)', 'a ~ "{}()/\\\\@:" ~ b', '[a, {"key": b}]'] as $expression) {
                $results[] = $language->evaluate($expression, ['a' => 2, 'b' => 5]);
                $results[] = $language->compile($expression, ['a', 'b']);
            }
        }

        return $results;
    }

    /** @return list<mixed> */
    public static function validation(CacheItemPoolInterface $pool): array
    {
        $results = [];
        foreach (['first', 'again'] as $_) {
            $validator = Validation::createValidatorBuilder()->enableAttributeMapping()->setMappingCache($pool)->getValidator();
            foreach ([new Jar('plums', 50), new Jar('', 500), new Jar(str_repeat('x', 11), -1)] as $jar) {
                foreach ($validator->validate($jar) as $violation) {
                    $results[] = [$violation->getPropertyPath(), (string) $violation->getMessage(), $violation->getInvalidValue()];
                }
            }
        }

        return $results;
    }

    /** @return list<mixed> */
    public static function properties(CacheItemPoolInterface $pool): array
    {
        $results = [];
        foreach (['first', 'again'] as $_) {
            $reflection = new ReflectionExtractor();
            $properties = new PropertyInfoCacheExtractor(new PropertyInfoExtractor([$reflection], [$reflection], [], [$reflection], [$reflection]), $pool);
            foreach ([Jar::class, Shelf::class] as $class) {
                $results[] = $names = $properties->getProperties($class);
                foreach ($names ?? [] as $name) {
                    $results[] = [$properties->getTypes($class, $name), $properties->isWritable($class, $name)];
                }
            }
        }

        return $results;
    }

    /** @return list<mixed> */
    public static function metadata(CacheItemPoolInterface $pool): array
    {
        $results = [];
        foreach (['first', 'again'] as $_) {
            $factory = new CacheClassMetadataFactory(new ClassMetadataFactory(new AttributeLoader()), $pool);
            $names = new MetadataAwareNameConverter($factory);
            foreach ($factory->getMetadataFor(Jar::class)->getAttributesMetadata() as $name => $attribute) {
                $results[] = [$name, $attribute->getGroups(), $names->normalize($name, Jar::class)];
            }
        }

        return $results;
    }

    /**
     * Symfony's own tags keep their versions beside the items.
     *
     * @return list<mixed>
     */
    public static function tags(CacheItemPoolInterface $pool): array
    {
        $results = [];
        foreach (['first', 'again'] as $turn) {
            $tagged = new TagAwareAdapter(new ProxyAdapter($pool, 'tagged'));
            foreach (['a' => ['red'], 'b' => ['red', 'blue'], 'c' => []] as $key => $tags) {
                $results[] = $tagged->get($key, static function (ItemInterface $item) use ($key, $tags, $turn): string {
                    $item->tag($tags)->expiresAfter(1_000);

                    return "{$key} computed {$turn}";
                }, 0.0);
            }
            $results[] = $tagged->invalidateTags(['blue']);
            foreach ($tagged->getItems(['a', 'b', 'c', 'absent']) as $key => $item) {
                $results[] = [$key, $item->isHit(), $item->get()];
            }
            $results[] = $tagged->saveDeferred($tagged->getItem('deferred')->set([null, 1.5, 'text'])->tag(['red']));
            $results[] = $tagged->commit();
            $results[] = $tagged->getItem('deferred')->get();
            $results[] = $tagged->deleteItems(['a', 'c']);
            $results[] = $tagged->hasItem('a');
        }

        return $results;
    }

    /** @return list<mixed> */
    public static function chain(CacheItemPoolInterface $pool): array
    {
        $results = [];
        foreach (['first', 'again'] as $turn) {
            $chain = new ChainAdapter([new ArrayAdapter(), $pool]);
            foreach (['a', 'b'] as $key) {
                $results[] = $chain->getItem($key)->get();
                $results[] = $chain->get($key, static fn(ItemInterface $item): string => "{$key} {$turn}", 0.0);
            }
            $results[] = $chain->delete('b');
            $results[] = $chain->hasItem('a');
        }
        $results[] = $chain->clear();
        $results[] = $pool->hasItem('a');

        return $results;
    }

    /**
     * Each hit is of another request.
     *
     * @return list<mixed>
     */
    public static function limits(CacheItemPoolInterface $pool): array
    {
        $results = [];
        foreach (['fixed_window', 'sliding_window', 'token_bucket'] as $policy) {
            $configuration = ['id' => $policy, 'policy' => $policy, 'limit' => 3] + ($policy === 'token_bucket' ? ['rate' => ['interval' => '1 hour']] : ['interval' => '1 hour']);
            foreach (['127.0.0.1', '127.0.0.1', '::1', '127.0.0.1', '127.0.0.1'] as $visitor) {
                $limit = (new RateLimiterFactory($configuration, new CacheStorage($pool)))->create($visitor)->consume();
                $results[] = [$limit->isAccepted(), $limit->getRemainingTokens()];
            }
            $limiter = (new RateLimiterFactory($configuration, new CacheStorage($pool)))->create('127.0.0.1');
            $limiter->reset();
            $results[] = $limiter->consume(2)->getRemainingTokens();
        }

        return $results;
    }

    /**
     * Metadata, queries, results and the second level, and how many times the database was asked.
     *
     * @return list<mixed>
     */
    public static function entities(CacheItemPoolInterface $pool): array
    {
        $scratch = new Scratch();
        $results = [];
        $path = "{$scratch->path}/shop.db";
        foreach (['first', 'again', 'changed', 'afterwards'] as $turn) {
            $logger = new MemoryLogger();
            $manager = self::manager($pool, $scratch->path, $path, $logger);
            if ($turn === 'first') {
                (new SchemaTool($manager))->createSchema($manager->getMetadataFactory()->getAllMetadata());
                $shelf = new Shelf('upper');
                foreach (['plums' => 500, 'beans' => 300] as $label => $grams) {
                    $shelf->jars->add(new Jar($label, $grams, $shelf));
                }
                $manager->persist($shelf);
                $manager->persist(new Lid('red'));
                $manager->flush();
                $manager->clear();
            }
            $lid = $manager->find(Lid::class, 1);
            $results[] = [$turn, $lid?->colour];
            $shelf = $manager->find(Shelf::class, 1);
            foreach ($shelf->jars ?? [] as $jar) {
                $results[] = [$turn, $jar->label, $jar->grams, $jar->shelf?->name];
            }
            $heavy = $manager->createQuery('SELECT j.label FROM ' . Jar::class . ' j WHERE j.grams > :grams ORDER BY j.label')->setParameter('grams', 400);
            $results[] = $heavy->enableResultCache(1_000, 'heavy jars')->getScalarResult();
            $cacheable = $manager->createQuery('SELECT s FROM ' . Shelf::class . ' s')->setCacheable(true)->getResult();
            $results[] = array_map(static fn(mixed $found): mixed => $found instanceof Shelf ? $found->name : null, \is_array($cacheable) ? $cacheable : []);
            if ($turn === 'changed' && $shelf !== null) {
                $shelf->name = 'lower';
                $shelf->jars->add(new Jar('figs', 900, $shelf));
                $lid === null || $lid->colour = 'blue';
                $manager->flush();
                $results[] = [$manager->getCache()?->containsEntity(Jar::class, 3), $manager->getCache()?->containsEntity(Lid::class, 1)];
            }
            $results[] = [$turn, \count(preg_grep('/Executing/', $logger->lines) ?: []), 'statements'];
        }

        return $results;
    }

    /**
     * A request reads an entity from the database. Before it keeps that, another one changes the entity, and removes what was kept of it.
     *
     * @param \Closure(): CacheItemPoolInterface $open the pool of a request
     *
     * @return list<?string> what the request has read, and what two later ones read
     */
    public static function overtaken(\Closure $open): array
    {
        $scratch = new Scratch();
        $path = "{$scratch->path}/shop.db";
        $manage = static fn(): EntityManager => self::manager($open(), $scratch->path, $path, new MemoryLogger());
        $read = static fn(EntityManager $manager): ?string => $manager->find(Lid::class, 1)?->colour;
        Crowd::of(1, static function () use ($manage): int {
            $manager = $manage();
            (new SchemaTool($manager))->createSchema($manager->getMetadataFactory()->getAllMetadata());
            $manager->persist(new Lid('red'));
            $manager->flush();

            return 0;
        });
        $reader = $manage();
        $reader->getEventManager()->addEventListener(Events::postLoad, new class ($manage) {
            /** @param \Closure(): EntityManager $manage */
            public function __construct(
                private readonly \Closure $manage,
            ) {}

            public function postLoad(): void
            {
                Crowd::of(1, function (): int {
                    $manager = ($this->manage)();
                    $lid = $manager->find(Lid::class, 1);
                    $lid === null || $lid->colour = 'blue';
                    $manager->flush();

                    return 0;
                });
            }
        });

        return [$read($reader), $read($manage()), $read($manage())];
    }

    private static function manager(CacheItemPoolInterface $pool, string $proxies, string $database, MemoryLogger $logger): EntityManager
    {
        $regions = new RegionsConfiguration();
        $second = new CacheConfiguration();
        $second->setRegionsConfiguration($regions);
        $factory = new DefaultCacheFactory($regions, $pool);
        $factory->setFileLockRegionDirectory("{$proxies}/locks");
        $second->setCacheFactory($factory);
        $configuration = new Configuration();
        $configuration->setMetadataDriverImpl(new AttributeDriver([__DIR__]));
        $configuration->setProxyDir($proxies);
        $configuration->setProxyNamespace('Larder\Tests\Clients\Proxies');
        $configuration->setMetadataCache($pool);
        $configuration->setQueryCache($pool);
        $configuration->setResultCache($pool);
        $configuration->setSecondLevelCacheEnabled();
        $configuration->setSecondLevelCacheConfiguration($second);
        $configuration->setMiddlewares([new Middleware($logger)]);
        if (\PHP_VERSION_ID >= 80400) {
            $configuration->enableNativeLazyObjects(true);
        }

        return new EntityManager(DriverManager::getConnection(['driver' => 'pdo_sqlite', 'path' => $database], $configuration), $configuration);
    }
}
