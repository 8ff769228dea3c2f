// The listeners of tracking hosts and their 404s; the name server for challenges.
import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import { decode, encode, type Packet, type Question } from 'dns-packet';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startDaemon } from '../../../../daemon/daemon.ts';
import { enableTracking } from '../../../../src/outbound/tracking/custom/hosts.ts';
import {
  askPlain,
  echo,
  hostname,
  type Running,
  type State,
  type TrackingWorld,
  trackingWorld,
} from './world.ts';

const token = 'abcdefghijklmnopqrstuvwx';
const proof = `${token}.thumbprint`;

let world: TrackingWorld;
let running: Running;
let state: State;
beforeEach(async () => {
  world = await trackingWorld({ tracking: { publicUrl: 'http://click.host.example' } });
  const { test, domain } = world;
  const enabled = await enableTracking(test.app, test.operator, domain.id, { label: 'links' });
  state = enabled.customTracking as State;
  await test.app.store.write((trx) =>
    sql`update tracking_hosts set challenge_token = ${token}, challenge_value = ${proof},
      next_check_at = null`.execute(trx),
  );
  running = await world.run();
});
afterEach(() => world.close());

describe('a tracking host', () => {
  const ask = (path: string, options: { host?: string; method?: string; body?: string } = {}) =>
    askPlain(running.listeners.httpPort ?? 0, path, { host: hostname, ...options });

  it('answers links and its own challenge', async () => {
    expect(await ask('/t/o/abc?x=1')).toMatchObject({
      status: 200,
      body: 'GET /t/o/abc?x=1 127.0.0.1',
      headers: { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' },
    });
    expect(await ask('/t/c/abc', { host: `${hostname.toUpperCase()}:8080` })).toMatchObject({
      status: 200,
    });
    expect(await ask('/t/o/abc', { host: 'click.host.example' })).toMatchObject({ status: 200 });
    expect(await ask('/t/o/abc', { method: 'HEAD' })).toMatchObject({ status: 200, body: '' });
    expect(await ask(`/.well-known/acme-challenge/${token}`)).toMatchObject({
      status: 200,
      body: proof,
    });
  });

  it.each([
    ['the root', '/', {}],
    ['the API', '/v1/email/domains', {}],
    ['health', '/healthz', {}],
    ['the console', '/console', {}],
    ['a link that begins otherwise', '/tt/o/abc', {}],
    [
      'the challenge of another host',
      `/.well-known/acme-challenge/${token}`,
      { host: 'x.example' },
    ],
    ['another token', '/.well-known/acme-challenge/abcdefghijklmnopqrstuvwy', {}],
    ['a malformed token', '/.well-known/acme-challenge/../../etc', {}],
    ['a challenge that is posted', `/.well-known/acme-challenge/${token}`, { method: 'POST' }],
    ['a path without end', `/${'a'.repeat(4_000)}`, {}],
  ])('answers 404 to %s', async (_what, path, options) => {
    expect(await ask(path, options)).toMatchObject({ status: 404, body: 'Not found\n' });
  });

  it.each([
    ['a path that leads back', '/t/../healthz', { host: 'other.example' }],
    ['an unknown unsubscribe link', '/u/abc', {}],
    ['a link of another kind', '/c/abc', {}],
    ['a link on another host', '/t/o/abc', { host: 'other.acme.example' }],
    ['a link on no host', '/t/o/abc', { host: '' }],
    ['a link without end', `/t/o/${'a'.repeat(4_000)}`, {}],
  ])('answers %s with a page for people', async (_what, path, options) => {
    expect(await ask(path, options)).toMatchObject({
      status: 404,
      headers: { 'content-type': 'text/html; charset=utf-8' },
      body: expect.stringContaining('<h1>This link does not work</h1>'),
    });
  });

  it('hides the cause of a failing link', async () => {
    const serve = () => Promise.reject(new Error('the store is gone: SECRET'));
    const failing = await world.run(world.test.app, serve);
    const answer = await askPlain(failing.listeners.httpPort ?? 0, '/t/o/abc', { host: hostname });
    expect(answer).toMatchObject({ status: 503, body: 'Try again later\n' });
  });

  it('closes the connection of a client that sends a body or speaks no HTTP', async () => {
    const posted = await ask('/t/o/abc', { method: 'POST', body: 'GET /t/o/other HTTP/1.1' });
    expect(posted.headers.connection).toBe('close');
    const socket = connect(running.listeners.httpPort ?? 0, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    socket.write('EHLO there\r\n\r\n');
    await new Promise((resolve) => socket.once('close', resolve));
    expect(text).toBe('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n');
  });
});

describe('the name server for challenges', () => {
  function message(question: Partial<Question>): Buffer {
    return encode({
      type: 'query',
      id: 4711,
      flags: 0x0100,
      questions: [{ type: 'TXT', class: 'IN', name: 'x', ...question } as Question],
    });
  }

  /** Asks over UDP; returns null where nothing comes before the answer to a second question. */
  async function askUdp(bytes: Buffer): Promise<Packet | null> {
    const socket = createSocket('udp4');
    const answers: Packet[] = [];
    const done = new Promise<void>((resolve) => {
      socket.on('message', (answer) => {
        const packet = decode(answer);
        if (packet.id !== 1) answers.push(packet);
        else resolve();
      });
    });
    socket.send(bytes, running.responder.port, '127.0.0.1');
    const last = message({ name: 'last.example' });
    last.writeUInt16BE(1, 0);
    socket.send(last, running.responder.port, '127.0.0.1');
    await done;
    socket.close();
    return answers[0] ?? null;
  }

  async function askTcp(bytes: Buffer): Promise<Packet> {
    const socket = connect(running.responder.port, '127.0.0.1');
    const length = Buffer.alloc(2);
    length.writeUInt16BE(bytes.length);
    // In pieces, as networks deliver it.
    socket.write(length.subarray(0, 1));
    socket.write(Buffer.concat([length.subarray(1), bytes.subarray(0, 9)]));
    socket.write(bytes.subarray(9));
    let received = Buffer.alloc(0);
    for await (const chunk of socket) {
      received = Buffer.concat([received, chunk as Buffer]);
      if (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) break;
    }
    return decode(received.subarray(2));
  }

  const rcodeOf = (packet: Packet | null) => (packet?.flags ?? 0) & 15;
  const zone = 'dcv.click.host.example';

  it('answers over UDP and TCP with the proof, in the case of the question', async () => {
    const name = state.dnsRecords.dcvDelegation.value.replace('dcv', 'DcV');
    for (const ask of [askUdp, askTcp]) {
      const answer = await ask(message({ name }));
      expect(answer).toMatchObject({ id: 4711, flag_aa: true, flag_ra: false, flag_rd: true });
      expect(rcodeOf(answer)).toBe(0);
      expect(answer?.answers).toMatchObject([{ name, type: 'TXT', data: [Buffer.from(proof)] }]);
    }
  });

  it('answers other names and types with the authority of its zone', async () => {
    const name = state.dnsRecords.dcvDelegation.value;
    const other = await askUdp(message({ name, type: 'A' }));
    expect([rcodeOf(other), other?.answers, other?.authorities?.[0]?.type]).toEqual([0, [], 'SOA']);
    const unknown = await askUdp(message({ name: `abcdefghijklmnopqrst0000.${zone}` }));
    expect([rcodeOf(unknown), unknown?.authorities?.[0]?.type]).toEqual([3, 'SOA']);
    const top = await askUdp(message({ name: zone, type: 'NS' }));
    expect(top?.answers).toMatchObject([{ type: 'NS', data: 'click.host.example' }]);
    const soa = await askUdp(message({ name: zone, type: 'SOA' }));
    expect(soa?.answers).toMatchObject([{ type: 'SOA' }]);
    for (const name of ['example', 'click.host.example', `x${zone}`]) {
      expect(rcodeOf(await askUdp(message({ name })))).toBe(5);
    }
  });

  it('ignores answers and malformed questions, and never amplifies', async () => {
    const reply = message({ name: zone });
    reply.writeUInt16BE(0x8000, 2);
    expect(await askUdp(reply)).toBeNull();
    expect(await askUdp(Buffer.from('short'))).toBeNull();
    const update = message({ name: zone });
    update.writeUInt16BE(5 << 11, 2);
    expect(rcodeOf(await askUdp(update))).toBe(1);
    const broken = message({ name: zone }).subarray(0, -3);
    expect(rcodeOf(await askUdp(broken))).toBe(1);
    expect(await askUdp(Buffer.concat([message({ name: zone }), Buffer.alloc(700)]))).toBeNull();
  });

  it('answers SERVFAIL while the store fails, and logs the cause', async () => {
    const { store, log } = world.test.app;
    const error = vi.spyOn(log, 'error');
    const rename = (from: string, to: string) =>
      store.write((trx) =>
        sql`alter table ${sql.table(from)} rename to ${sql.table(to)}`.execute(trx),
      );
    await rename('tracking_hosts', 'away');
    const name = state.dnsRecords.dcvDelegation.value;
    const answers = [await askUdp(message({ name })), await askTcp(message({ name }))];
    await rename('away', 'tracking_hosts');
    expect(answers.map((answer) => [answer?.id, rcodeOf(answer)])).toEqual([
      [4711, 2],
      [4711, 2],
    ]);
    const err = expect.objectContaining({ message: 'no such table: tracking_hosts' });
    expect(error).toHaveBeenCalledWith({ err }, 'a DNS question could not be answered');
  });

  it('closes a flooding TCP connection', async () => {
    const socket = connect(running.responder.port, '127.0.0.1');
    socket.on('error', () => {});
    const one = message({ name: state.dnsRecords.dcvDelegation.value });
    const length = Buffer.alloc(2);
    length.writeUInt16BE(one.length);
    socket.write(Buffer.concat(Array.from({ length: 500 }, () => [length, one]).flat()));
    socket.resume();
    await new Promise((resolve) => socket.once('close', resolve));
  });
});

describe('a daemon', () => {
  it('starts and stops all listeners of tracking', async () => {
    await running.stop();
    const { test } = world;
    const daemon = await startDaemon(test.app, { serveTracked: echo });
    const { http, https, dns } = daemon.trackingPorts;
    expect([http, https, dns].every((port) => port !== null && port > 0)).toBe(true);
    const answer = await askPlain(http ?? 0, '/t/o/abc', { host: hostname });
    expect(answer.body).toBe('GET /t/o/abc 127.0.0.1');
    await daemon.close();
    await expect(askPlain(http ?? 0, '/t/o/abc', { host: hostname })).rejects.toThrow();
  });
});
