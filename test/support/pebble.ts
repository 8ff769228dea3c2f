// Pebble, the ACME server by which Let's Encrypt tests clients, if it is installed (Debian:
// `pebble`). It runs as a process on loopback, asks the DNS server of the test, and looks for
// challenges at a single port.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { testCert, testKey } from './test-cert.ts';

const triesUntilUp = 200;
const pauseMs = 50;

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Path of the program; null if it is not installed. */
export const pebbleProgram =
  (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'pebble'))
    .find(isProgram) ?? null;

/** Returns a port of loopback that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/**
 * Requests a URL over TLS and trusts only the certificate of the tests. @throws Error without an
 * answer
 */
function fetchText(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get(url, { ca: testCert, agent: false }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      response.on('end', () => resolve(text));
    }).on('error', reject);
  });
}

export interface Pebble {
  /** The root of Pebble's certificates in PEM. */
  root: string;
  stop(): Promise<void>;
}

/**
 * Starts Pebble at `https://localhost:<port>/dir`, with the certificate of the tests. It resolves
 * names at `dns` (host:port) and requests challenges at `challengePort`.
 */
export async function startPebble(
  program: string,
  options: { port: number; dns: string; challengePort: number },
): Promise<Pebble> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-pebble-'));
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const managementPort = await freePort();
  const pebble = {
    listenAddress: `127.0.0.1:${options.port}`,
    managementListenAddress: `127.0.0.1:${managementPort}`,
    certificate: file('cert.pem', testCert),
    privateKey: file('key.pem', testKey),
    httpPort: options.challengePort,
    tlsPort: options.challengePort,
  };
  const config = file('config.json', JSON.stringify({ pebble }));
  const child = spawn(program, ['-strict', '-config', config, '-dnsserver', options.dns], {
    env: { ...process.env, PEBBLE_VA_NOSLEEP: '1' },
    stdio: 'ignore',
  });
  const exited = once(child, 'exit');
  const stop = async () => {
    child.kill();
    await exited;
    rmSync(folder, { recursive: true });
  };
  for (let left = triesUntilUp; ; left--) {
    try {
      return { root: await fetchText(`https://localhost:${managementPort}/roots/0`), stop };
    } catch (error) {
      if (left > 0 && child.exitCode === null) await wait(pauseMs);
      else {
        await stop();
        throw new Error('pebble did not get ready', { cause: error });
      }
    }
  }
}
