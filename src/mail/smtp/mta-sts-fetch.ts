// Fetches the policy file of MTA-STS over HTTPS (RFC 8461 3.3): verified certificate, no redirects, 64 KB, 60
// seconds, public addresses only. mta-sts.ts reads its content.
import { type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import type { Connector } from '../../platform/net/dial.ts';
import { dialSocket } from '../../platform/net/dial.ts';
import type { Dns } from '../../platform/net/dns.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import type { Random } from '../../platform/runtime/random.ts';
import { findAddresses } from './destination.ts';
import { handshake } from './tls.ts';

/** A fetched policy file; times in ms since 1970. */
export interface KeptPolicy {
  id: string;
  text: string;
  fetchedAt: number;
  expiresAt: number;
}

/** A store that keeps policies over a restart. Its functions never reject. */
export interface KeptPolicies {
  /** Returns the policy of a domain, or null if none is kept; it may have expired. */
  find(domain: string): Promise<KeptPolicy | null>;
  keep(domain: string, policy: KeptPolicy): Promise<void>;
}

export interface PolicyFetch {
  dns: Dns;
  random: Random;
  clock: Clock;
  connector: Connector;
  allowPrivateAddresses: boolean;
  signal: AbortSignal;
}

const httpsPort = 443;
const maxBytes = 64 * 1024;
const totalMs = 60_000;
const connectMs = 20_000;

/**
 * Fetches the current policy file of `domain`.
 * @throws Error with the obstacle in words
 */
export async function fetchPolicyText(domain: string, options: PolicyFetch): Promise<string> {
  const { dns, random, clock, allowPrivateAddresses } = options;
  const host = `mta-sts.${domain}`;
  const found = await findAddresses(dns, random, host, allowPrivateAddresses);
  if (found.verdict) throw new Error(found.verdict.reply.text);
  // One time limit covers all steps; its signal aborts the current one.
  const time = new AbortController();
  const cancel = clock.after(totalMs, () => time.abort());
  const signal = AbortSignal.any([options.signal, time.signal]);
  try {
    const [first] = found.addresses;
    return await fetchFrom(host, first, { ...options, signal });
  } catch (error) {
    throw time.signal.aborted ? new Error(`${host} did not answer within 60 s`) : error;
  } finally {
    cancel();
  }
}

async function fetchFrom(host: string, address: string, options: PolicyFetch): Promise<string> {
  const { clock, connector, signal } = options;
  const timeoutMs = connectMs;
  const socket = await dialSocket({
    address,
    port: httpsPort,
    connector,
    clock,
    timeoutMs,
    signal,
  });
  const secured = await handshake({ socket, host, verifyCertificate: true, clock, timeoutMs });
  try {
    return await readText(await ask(host, secured, signal));
  } finally {
    secured.destroy();
  }
}

function ask(host: string, socket: Socket, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request({
      createConnection: () => socket,
      host,
      path: '/.well-known/mta-sts.txt',
      headers: { accept: 'text/plain', connection: 'close' },
      signal,
    })
      .once('response', resolve)
      .on('error', reject)
      .end();
  });
}

async function readText(response: IncomingMessage): Promise<string> {
  const { statusCode, headers } = response;
  if (statusCode !== 200) throw new Error(`the policy host answered with status ${statusCode}`);
  const [mediaType] = (headers['content-type'] ?? '').split(';');
  if (mediaType?.trim().toLowerCase() !== 'text/plain') {
    throw new Error(`the policy is of type ${JSON.stringify(mediaType)}, not text/plain`);
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error('the policy has more than 64 KB');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
