// OpenDKIM as the milter of the bench's Postfix: signs everything from loopback with RSA-2048.
import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { treeCpuMs, treeMemoryMb } from './process-cost.ts';

const command = '/usr/sbin/opendkim';
const pollMs = 50;
const startDeadlineMs = 10_000;

export function whyNoOpenDkim(): string | null {
  return existsSync(command) ? null : `${command} is not installed`;
}

export interface BenchMilter {
  /** Address of the milter in the syntax of Postfix. */
  socket: string;
  cpuMs(): number;
  memoryMb(): number;
  stop(): Promise<void>;
}

export async function startOpenDkim(domain: string): Promise<BenchMilter> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-bench-opendkim-'));
  const socket = join(dir, 'socket');
  // Postfix comes as a user of its own.
  chmodSync(dir, 0o755);
  writeKey(join(dir, 'key.pem'));
  writeFileSync(join(dir, 'opendkim.conf'), configuration(dir, socket, domain));
  const child = spawn(command, ['-f', '-x', join(dir, 'opendkim.conf')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const pid = child.pid ?? 0;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const remove = () => {
    child.kill('SIGKILL');
    rmSync(dir, { recursive: true, force: true });
  };
  process.once('exit', remove);
  const deadline = performance.now() + startDeadlineMs;
  while (!existsSync(socket)) {
    if (performance.now() > deadline || child.exitCode !== null) {
      throw new Error('OpenDKIM did not start');
    }
    await wait(pollMs);
  }
  return {
    socket: `unix:${socket}`,
    cpuMs: () => treeCpuMs(pid),
    memoryMb: () => treeMemoryMb(pid),
    async stop() {
      process.off('exit', remove);
      remove();
      await ended;
    },
  };
}

function writeKey(file: string): void {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(file, privateKey.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 });
}

function configuration(dir: string, socket: string, domain: string): string {
  return `Mode s
Domain ${domain}
Selector bench
KeyFile ${dir}/key.pem
RequireSafeKeys no
Canonicalization relaxed/relaxed
SignatureAlgorithm rsa-sha256
InternalHosts 127.0.0.1
Socket local:${socket}
UMask 000
Syslog no
`;
}
