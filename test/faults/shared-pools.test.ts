// Every pool that organizations, or networks of clients, share: one holder takes all it can, and
// another still gets its place within a second. A new pool adds a row. The pools are listed in
// docs/making/bounds.md.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { SubmissionLimits } from '../../daemon/smtp/limits.ts';
import { createKey } from '../../src/access/keys/keys.ts';
import { operatorOf } from '../../src/access/keys/roles.ts';
import { createOrganization } from '../../src/access/organizations/organizations.ts';
import { route } from '../../src/core/api/route.ts';
import { createMimeParser } from '../../src/mail/parse/parser.ts';
import { systemClock } from '../../src/platform/runtime/clock.ts';
import { getRoute, type HttpService, httpService, ownerKey } from '../http/http-service.ts';
import { type RawConnection, rawConnection } from '../http/raw-socket.ts';
import { addMailbox, envelope, smtpService } from '../listener/smtp-service.ts';
import { mail, submissionService, submit } from '../submission/submission-service.ts';
import { type Dialogue, smtpDialogue } from '../support/smtp-dialogue.ts';

/** One pool with its users. */
interface Pool {
  /** Takes one more place for the first holder; false if refused. */
  take(): Promise<boolean>;
  /** Takes a place for another holder. */
  takeElsewhere(): Promise<boolean>;
}

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const withinMs = 1_000;
const owners = [ownerKey, 'second'] as const;

const take = route({
  method: 'POST',
  path: '/v1/take',
  name: 'take',
  summary: 'Take it',
  area: 'messages',
  permission: 'messages:send',
  takes: { types: ['text/csv'], mostBytes: 1_000_000 },
  status: 200,
  output: z.object({}),
  async run(_app, { stream }) {
    for await (const _ of stream?.chunks ?? []);
    return {};
  },
});

const give = {
  ...getRoute('/v1/give', async () => {
    const texts = async function* () {
      for (;;) yield 'x'.repeat(100_000);
    };
    return { type: 'text/csv', texts: texts() };
  }),
  streams: ['text/csv'],
};

const swallow = route({
  method: 'POST',
  path: '/v1/swallow',
  name: 'swallow',
  summary: 'Swallow it',
  area: 'messages',
  permission: 'messages:send',
  body: z.unknown(),
  status: 200,
  output: z.object({}),
  run: async () => ({}),
});

async function http(
  options: Parameters<typeof httpService>[0],
): Promise<HttpService & { url: string }> {
  const service = await httpService(options);
  closing.push(
    () => service.http.close(0),
    () => service.close(),
  );
  return { ...service, ...(await service.http.listen()) };
}

/** Sends bytes that leave a request unfinished; resolves with true once it is accepted. */
function asking(url: string, isIn: (connection: RawConnection) => Promise<unknown>) {
  return async (bytes: string) => {
    const connection = rawConnection(url, bytes);
    closing.push(() => connection.socket.destroy());
    const refused = connection.untilReceived(' 503 ').then(() => false);
    return Promise.race([isIn(connection).then(() => true), refused]);
  };
}

const head = (start: string, key: string, fields: string) =>
  `${start} HTTP/1.1\r\nhost: svc\r\nx-api-key: ${key}\r\n${fields}\r\n`;

function poolOf(ask: (key: string) => Promise<boolean>): Pool {
  return { take: () => ask(owners[0]), takeElsewhere: () => ask(owners[1]) };
}

async function imports(): Promise<Pool> {
  const { url } = await http({ routes: [take] });
  const fields = 'content-type: text/csv\r\ntransfer-encoding: chunked\r\nexpect: 100-continue\r\n';
  const ask = asking(url, (connection) => connection.untilReceived(' 100 '));
  return poolOf((key) => ask(head('POST /v1/take', key, fields)));
}

async function exports(): Promise<Pool> {
  const { url } = await http({ routes: [give] });
  const ask = asking(url, async (connection) => {
    await connection.untilReceived(' 200 ');
    connection.socket.pause();
  });
  return poolOf((key) => ask(head('GET /v1/give', key, '')));
}

async function eventStreams(): Promise<Pool> {
  const { url } = await http({});
  const ask = asking(url, (connection) => connection.untilReceived('retry: '));
  return poolOf((key) => ask(head('GET /v1/events/stream', key, '')));
}

async function largeBodies(): Promise<Pool> {
  const { url } = await http({ routes: [swallow], config: { maxBodyBytes: 500_000 } });
  const fields = 'content-type: application/json\r\ncontent-length: 400001\r\n';
  const [hungry, other] = owners;
  const begun = asking(url, async () => new Promise((resolve) => setTimeout(resolve, 200)));
  const whole = asking(url, (connection) => connection.untilReceived(' 200 '));
  const body = ' '.repeat(400_000);
  return {
    take: () => begun(head('POST /v1/swallow', hungry, fields) + body),
    takeElsewhere: () => whole(`${head('POST /v1/swallow', other, fields)}${body}1`),
  };
}

async function inFlight(): Promise<Pool> {
  let started = 0;
  const wait = getRoute('/v1/wait', () => {
    started += 1;
    return new Promise(() => {});
  });
  const { url } = await http({ routes: [wait], config: { maxInFlight: 100 } });
  const ask = asking(url, async () => {
    const before = started;
    await expect.poll(() => started, { interval: 5 }).toBeGreaterThan(before);
  });
  return poolOf((key) => ask(head('GET /v1/wait', key, '')));
}

const line = `${'x'.repeat(98)}\r\n`;
/** Line counts of twenty messages: the last ones fit where no larger one does. */
const unfinished = () => [
  ...[9_000, 4_000, 2_000, 1_000, 500].flatMap((lines) => [lines, lines, lines]),
  ...[200, 200, 1, 1, 1],
];

const [hungrySite, otherSite] = ['127.0.1.1', '127.0.2.1'];

async function smtp(limits: Parameters<typeof smtpService>[1], maxConnections = 200) {
  const inbound = { maxConnections, maxMessageBytes: 1_000_000 };
  const service = await smtpService({ config: { smtp: { inbound } } }, limits);
  closing.push(() => service.close());
  await addMailbox(service.app, service.caller, 'pool@sandbox.test');
  return async (address: string) => {
    const dialogue = await smtpDialogue(service.port, address);
    closing.push(() => dialogue.end());
    return dialogue;
  };
}

async function incomingData(): Promise<Pool> {
  const connect = await smtp({ bufferedBytes: 10_000_000 });
  const begin = async (address: string, bytes: string): Promise<Dialogue> => {
    const dialogue = await connect(address);
    await dialogue.reply();
    await dialogue.say('EHLO client.example');
    await envelope(dialogue, 'pool@sandbox.test');
    await dialogue.say('DATA');
    dialogue.write(bytes);
    return dialogue;
  };
  const deliver = async () => {
    const dialogue = await begin(otherSite, `Subject: small\r\n\r\n${line}.\r\n`);
    return (await dialogue.reply()).startsWith('250 ');
  };
  // The first mail of a process loads the checks of its sender.
  await deliver();
  const sizes = unfinished();
  return {
    async take() {
      const lines = sizes.shift();
      if (lines === undefined) return false;
      const dialogue = await begin(hungrySite, line.repeat(lines));
      // Its bytes are read before the command of a later connection is answered.
      const next = await connect(hungrySite);
      await next.reply();
      next.end();
      return dialogue !== null;
    },
    takeElsewhere: deliver,
  };
}

async function incomingConnections(): Promise<Pool> {
  const connect = await smtp({ connectionsPerAddress: 1_000 }, 50);
  const ask = async (address: string) =>
    (await (await connect(address)).reply()).startsWith('220 ');
  return { take: () => ask(hungrySite), takeElsewhere: () => ask(otherSite) };
}

async function submission(limits: Partial<SubmissionLimits>) {
  const service = await submissionService({}, { limits });
  closing.push(() => service.close());
  return service;
}

async function submittedData(): Promise<Pool> {
  const service = await submission({ bufferedBytes: 10_000_000, messageBytes: 1_000_000 });
  const { id } = await createOrganization(service.app, { name: 'other', plan: 'scale' });
  const { key } = await createKey(service.app, operatorOf(id), { role: 'sender' });
  const sizes = unfinished();
  return {
    async take() {
      const lines = sizes.shift();
      if (lines === undefined) return false;
      const dialogue = await service.loggedIn();
      await dialogue.say('MAIL FROM:<a@client.example>');
      await dialogue.say('RCPT TO:<bob@example.com>');
      await dialogue.say('DATA');
      dialogue.write(line.repeat(lines));
      return true;
    },
    async takeElsewhere() {
      // Its From belongs to another organization: refused for that, not for memory.
      return /^550 /.test(await submit(await service.loggedIn(key ?? ''), mail()));
    },
  };
}

async function submissionConnections(): Promise<Pool> {
  const { port } = await submission({ connections: 50, connectionsPerAddress: 1_000 });
  const ask = async (address: string) => {
    const dialogue = await smtpDialogue(port, address);
    closing.push(() => dialogue.end());
    return (await dialogue.reply()).startsWith('220 ');
  };
  return { take: () => ask(hungrySite), takeElsewhere: () => ask(otherSite) };
}

/** A mail with a file of 500 KB, its second part. */
const mailWithFile = Buffer.from(
  [
    'Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nhi\r\n--b',
    'Content-Type: application/pdf\r\nContent-Transfer-Encoding: base64\r\n',
    Buffer.alloc(500_000).toString('base64').replace(/.{76}/g, '$&\r\n'),
    '--b--\r\n',
  ].join('\r\n'),
);

async function attachments(): Promise<Pool> {
  const parser = createMimeParser({ clock: systemClock });
  closing.push(() => parser.close());
  const read = (holder: string) => parser.readAttachment(mailWithFile, '2', holder);
  // The worker starts with its first mail.
  expect((await read('first'))?.length).toBe(500_000);
  return {
    async take() {
      const refused = read('hungry').then(
        () => false,
        () => true,
      );
      // A refusal comes within the turn of the event loop.
      return !(await Promise.race([refused, nextTurn(false)]));
    },
    takeElsewhere: () => read('other').then(Boolean, () => false),
  };
}

describe('a pool filled by one holder', () => {
  it.each<[string, () => Promise<Pool>]>([
    ['imports', imports],
    ['exports', exports],
    ['streams of events', eventStreams],
    ['large bodies', largeBodies],
    ['work in flight', inFlight],
    ['incoming mail in memory', incomingData],
    ['connections for incoming mail', incomingConnections],
    ['submitted mail in memory', submittedData],
    ['connections for submission', submissionConnections],
    ['attachments to be parsed', attachments],
  ])('still has a place for another within a second: %s', async (_case, open) => {
    const pool = await open();
    let held = 0;
    while (held < 1_000 && (await pool.take())) held += 1;
    expect(held).toBeGreaterThan(0);
    expect(held).toBeLessThan(1_000);
    const begun = performance.now();
    expect(await pool.takeElsewhere()).toBe(true);
    expect(performance.now() - begun).toBeLessThan(withinMs);
  });
});
