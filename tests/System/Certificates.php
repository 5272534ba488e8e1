<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Bench\Server\Program;
use Larder\Tests\Scratch;
use Symfony\Component\Process\Process;

/** An authority of our own, and what it has signed: server.crt for localhost and 127.0.0.1, client.crt; and their keys. */
final class Certificates
{
    public readonly string $path;

    public function __construct(
        private readonly Scratch $scratch = new Scratch(),
    ) {
        $this->path = $this->scratch->path;
        $this->openssl('req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2', '-subj', '/CN=Larder tests', '-keyout', 'ca.key', '-out', 'ca.crt');
        file_put_contents("{$this->path}/names", "subjectAltName=DNS:localhost,IP:127.0.0.1\n");
        foreach (['server', 'client'] as $name) {
            $this->openssl('req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-subj', "/CN={$name}", '-keyout', "{$name}.key", '-out', "{$name}.csr");
            $this->openssl('x509', '-req', '-in', "{$name}.csr", '-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', 'names', '-out', "{$name}.crt");
        }
    }

    private function openssl(string ...$arguments): void
    {
        $program = Program::find('openssl') ?? throw new \RuntimeException('openssl is not installed; install the package openssl.');
        (new Process([$program, ...array_values($arguments)], $this->path))->mustRun();
    }
}
