// Our service as a contender: one real daemon in relay mode before the sink, one sending domain for
// each kind of signature.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Contender } from './contender.ts';
import { postAll } from './http-load.ts';
import { deliveriesAtOnce } from './postfix-config.ts';
import { type BenchDaemon, startBenchDaemon, svcJson } from './processes.ts';

export const signings = ['ed25519', 'rsa', 'both'] as const;
export type Signing = (typeof signings)[number];

/** Mail of every contender. */
export interface BenchMail {
  /** HTML of five links beside the text, tracked or not; null for the text alone. */
  links?: 'plain' | 'tracked' | null;
  connections: number;
  text: string;
}

/**
 * A daemon is compiled while it runs: of six rounds of 10,000 messages the first four were slower
 * than the last two by 38, 22, 19 and 15 %. Later rounds are alike.
 */
const warmUpRounds = 3;

/** About `bytes` bytes of plain text. */
export function textOf(bytes: number): string {
  const line = `${'The quick brown fox jumps over the lazy dog. '.repeat(2)}\n`;
  return line.repeat(Math.ceil(bytes / line.length));
}

/** Settings of a daemon that relays to the sink, on a store under `dataDir`. */
export function relayEnv(dataDir: string, sinkPort: number): Record<string, string> {
  return {
    SVC_DATA_DIR: dataDir,
    SVC_HTTP_PORT: '0',
    SVC_SMTP_INBOUND_PORT: '0',
    SVC_DELIVERY_MODE: 'relay',
    SVC_DELIVERY_RELAY_HOST: '127.0.0.1',
    SVC_DELIVERY_RELAY_PORT: String(sinkPort),
    SVC_DELIVERY_MAX_CONNECTIONS_PER_DOMAIN: String(deliveriesAtOnce),
  };
}

export interface BenchService {
  env: Record<string, string>;
  dataDir: string;
  daemon: BenchDaemon;
  apiKey: string;
  contender(signing: Signing, mail: BenchMail): Promise<Contender>;
  /** Stops the daemon and starts it again on the same store, with `work` in between. */
  restart(work: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts a daemon on a new store; `extraEnv` is for the daemon alone, `storeEnv` for commands too.
 */
export async function startBenchService(
  sinkPort: number,
  extraEnv: Record<string, string> = {},
  storeEnv: Record<string, string> = {},
): Promise<BenchService> {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  const remove = () => rmSync(dataDir, { recursive: true, force: true });
  process.once('exit', remove);
  const env = { ...relayEnv(dataDir, sinkPort), ...storeEnv };
  const start = () => startBenchDaemon({ ...env, ...extraEnv });
  let daemon = await start();
  const { key } = await svcJson<{ key: string }>(env, 'keys', 'create', '--name', 'bench');
  return {
    env,
    dataDir,
    get daemon() {
      return daemon;
    },
    apiKey: key,
    async contender(signing, mail) {
      const from = `bench@${await sendingDomain(env, signing)}`;
      const body = bodyOf(from, mail.text, mail.links ?? null);
      const { connections } = mail;
      let submitted = 0;
      return {
        name: `svc ${signing}`,
        isSigned: true,
        warmUpRounds,
        submit(total) {
          // Every text differs, because we store equal contents once and other mailers store each.
          const first = submitted;
          submitted += total;
          const load = { apiKey: key, path: '/v1/messages', connections, total };
          return postAll(daemon.httpPort, load, (index) => body(first + index));
        },
        cpuMs: () => daemon.cpuMs(),
        memoryMb: () => daemon.memoryMb('peak'),
        stallMs: () => daemon.stallMs(),
      };
    },
    async restart(work) {
      await daemon.stop();
      await work();
      daemon = await start();
    },
    async stop() {
      await daemon.stop();
      process.off('exit', remove);
      remove();
    },
  };
}

/** The payload of the message with this number. */
export function bodyOf(
  from: string,
  text: string,
  links: BenchMail['links'] = null,
): (index: number) => string {
  const tracking = { opens: links === 'tracked', clicks: links === 'tracked' };
  return (index) =>
    JSON.stringify({
      channel: 'email',
      from: { email: from },
      to: [{ email: `user${index}@example.com` }],
      email: {
        subject: `Message ${index}`,
        ...(links ? { html: htmlOf(index, text), tracking } : { text: `${index}\n${text}` }),
      },
    });
}

/** Makes a verified domain with such keys, and returns it. */
export async function sendingDomain(
  env: Record<string, string>,
  signing: Signing,
): Promise<string> {
  const domain = `${signing}.bench.example`;
  const { id } = await svcJson<{ id: string }>(env, 'domains', 'add', domain, '--dkim', signing);
  await svcJson(env, 'domains', 'verify', id, '--force');
  return domain;
}

/** Puts the text into a table of five cells, each with a link. */
export function htmlOf(index: number, text: string): string {
  const size = Math.ceil(text.length / 5);
  const cells = [0, 1, 2, 3, 4].map((cell) => {
    const url = `https://shop.example/${index}/${cell}?utm_source=news&amp;utm_medium=email`;
    const part = text.slice(cell * size, (cell + 1) * size);
    return `<tr><td style="padding:0 0 12px">${part}<a href="${url}">Read more</a></td></tr>`;
  });
  return `<html><body><table width="600">${cells.join('\n')}</table></body></html>`;
}
