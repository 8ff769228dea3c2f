// GET over HTTPS from a host that strangers name: verified certificate, public addresses only, port 443, at
// most 64 KB, one time limit for all steps. Follows no redirect.
import { type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Connector } from '../../platform/net/dial.ts';
import { dialSocket } from '../../platform/net/dial.ts';
import type { Dns } from '../../platform/net/dns.ts';
import { type Clock, within } from '../../platform/runtime/clock.ts';
import type { Random } from '../../platform/runtime/random.ts';
import { findAddresses } from './destination.ts';
import { handshake } from './tls.ts';

/** Capabilities of a GET. */
export interface HttpsAccess {
  dns: Dns;
  random: Random;
  clock: Clock;
  connector: Connector;
  allowPrivateAddresses: boolean;
  signal: AbortSignal;
}

/** Capabilities of an app, for a GET. */
interface Capabilities extends Pick<HttpsAccess, 'dns' | 'random' | 'clock'> {
  connect: Connector | undefined;
}

/** Returns the access of requests that end at public addresses only. */
export function strangerAccess({ dns, random, clock, connect: own }: Capabilities): HttpsAccess {
  const { signal } = new AbortController();
  const connector = own ?? connect;
  return { dns, random, clock, connector, allowPrivateAddresses: false, signal };
}

export interface HttpsRequest {
  host: string;
  /** Path and query. */
  path: string;
  accept: string;
  /** Most time for the connection and the handshake each, and for all. */
  connectMs: number;
  totalMs: number;
}

export interface HttpsAnswer {
  statusCode: number;
  /** In lower case and without parameters; empty if the host names none. */
  mediaType: string;
  /** Target of a redirect, as the host wrote it. */
  location: string | null;
  /** Clock of the host, ms since 1970. */
  date: number | null;
  /** Body of an answer 200; empty for others, which are not read. */
  text: string;
}

const httpsPort = 443;
const mostBytes = 64 * 1024;

/**
 * Asks a host.
 * @throws Error with the obstacle in words
 */
export async function httpsGet(asked: HttpsRequest, access: HttpsAccess): Promise<HttpsAnswer> {
  const { host, totalMs } = asked;
  // The time limit covers all steps; at its end the current one is aborted.
  const ending = new AbortController();
  const signal = AbortSignal.any([access.signal, ending.signal]);
  const late = () => new Error(`${host} did not answer within ${totalMs / 1000} s`);
  try {
    return await within(access.clock, totalMs, find(asked, { ...access, signal }), late);
  } finally {
    ending.abort();
  }
}

async function find(asked: HttpsRequest, access: HttpsAccess): Promise<HttpsAnswer> {
  const { dns, random, allowPrivateAddresses } = access;
  const found = await findAddresses(dns, random, asked.host, allowPrivateAddresses);
  if (found.verdict) throw new Error(found.verdict.reply.text);
  const [first] = found.addresses;
  return getFrom(asked, first, access);
}

async function getFrom(
  asked: HttpsRequest,
  address: string,
  { clock, connector, signal }: HttpsAccess,
): Promise<HttpsAnswer> {
  const { host, connectMs: timeoutMs } = asked;
  const dialled = { address, port: httpsPort, connector, clock, timeoutMs, signal };
  const socket = await dialSocket(dialled);
  const secured = await handshake({ socket, host, verifyCertificate: true, clock, timeoutMs });
  try {
    return await readAnswer(host, await ask(asked, secured, signal));
  } finally {
    secured.destroy();
  }
}

function ask(
  { host, path, accept }: HttpsRequest,
  socket: Socket,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    // node:http would add its own default port, 80, to the name.
    const headers = { host, accept, 'accept-encoding': 'identity', connection: 'close' };
    request({ createConnection: () => socket, host, path, headers, signal })
      .once('response', resolve)
      .on('error', reject)
      .end();
  });
}

async function readAnswer(host: string, response: IncomingMessage): Promise<HttpsAnswer> {
  const { statusCode = 0, headers } = response;
  const [mediaType = ''] = (headers['content-type'] ?? '').split(';');
  const date = Date.parse(headers.date ?? '');
  return {
    statusCode,
    mediaType: mediaType.trim().toLowerCase(),
    location: headers.location ?? null,
    date: Number.isNaN(date) ? null : date,
    text: statusCode === 200 ? await readText(host, response) : '',
  };
}

async function readText(host: string, response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw new Error(`the answer of ${host} has more than 64 KB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
