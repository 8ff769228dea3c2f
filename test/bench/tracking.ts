// The cost of tracking, by hand: npx node test/bench/tracking.ts. Finding the links of a content, composing a
// message of five links with and without tracking, and pixels and redirects a second of one core: the HTTP
// face on this thread, the load in a process of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createHttpServer } from '../../daemon/http/server.ts';
import { createAuthenticator } from '../../src/access/keys/authenticator.ts';
import { loadConfig } from '../../src/core/config/config.ts';
import { compose } from '../../src/mail/mime/composer.ts';
import { findContents } from '../../src/outbound/messages/content-queries.ts';
import { findMessageRow } from '../../src/outbound/messages/queries.ts';
import { sendPayload } from '../../src/outbound/messages/send-schema.ts';
import { trackedRequestOf } from '../../src/outbound/queue/carrier/copy.ts';
import { composeRequestOf, signingNow } from '../../src/outbound/queue/carrier/request.ts';
import { sendMessage } from '../../src/outbound/sending/send.ts';
import { trackingBase } from '../../src/outbound/tracking/base-url.ts';
import { findLinks } from '../../src/outbound/tracking/links.ts';
import { tokensOf } from '../../src/outbound/tracking/tokens.ts';
import { createLogger } from '../../src/platform/runtime/log.ts';
import { firstStart } from '../../src/service/first-start.ts';
import { openService } from '../../src/service/service.ts';
import { median } from './progress.ts';
import { htmlOf, textOf } from './svc-contender.ts';

const person = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Thunderbird/128.4.0';
const connections = 32;

if (process.argv[2] === 'load') await load(Number(process.argv[3]), process.argv.slice(4));
else await measure();

/** Requests the paths in turn over keep-alive connections; ends after `total` answers. */
async function load(port: number, [totalText = '0', ...paths]: string[]): Promise<void> {
  const total = Number(totalText);
  let asked = 0;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      await once(socket, 'connect');
      while (asked < total) {
        const path = paths[asked++ % paths.length];
        socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nUser-Agent: ${person}\r\n\r\n`);
        let text = '';
        let isWhole = false;
        while (!isWhole) {
          const [chunk] = (await once(socket, 'data')) as [Buffer];
          text += chunk.toString('latin1');
          const head = text.indexOf('\r\n\r\n');
          const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
          isWhole = head >= 0 && text.length >= head + 4 + length;
        }
        if (!/^HTTP\/1\.1 (200|302)/.test(text)) throw new Error(text.slice(0, 200));
      }
      socket.end();
    }),
  );
}

async function measure(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  const { config } = loadConfig({
    env: {},
    cwd: dataDir,
    overrides: { dataDir, http: { port: 0 } },
  });
  const app = await openService(config, await createLogger({ level: 'silent', pretty: false }));
  const first = await firstStart(app);
  const caller = await createAuthenticator(app).authenticate(first?.apiKey ?? '');
  if (!caller) throw new Error('the key of the first start was refused');
  const text = textOf(2_048);
  const sendOne = (index: number) =>
    sendMessage(
      app,
      caller,
      sendPayload.parse({
        channel: 'email',
        to: [{ email: `user${index}@example.com` }],
        email: {
          subject: 'Hello',
          html: htmlOf(index, text),
          tracking: { opens: true, clicks: true },
        },
      }),
      null,
    );
  const { id, deliveries } = await sendOne(0);
  const deliveryId = deliveries[0]?.id ?? '';

  let number = 1_000_000;
  await report('finding the links of a content', 1_000, () =>
    findLinks(htmlOf(number++, text), () => null),
  );

  const message = await findMessageRow(app.store.db, id);
  if (!message) throw new Error('the message is gone');
  const [content = null] = await findContents(app.store.db, [message.content_id ?? '']);
  const parts = { message, content, recipients: [] };
  const request = await composeRequestOf(app, parts, await signingNow(app, message));
  const { cuts } = await findLinks(content?.html ?? '', () => null);
  const base = trackingBase(app, message.sender_domain_id);
  await report('composing without tracking', 5_000, () => compose(request.input));
  await report('composing with it', 5_000, () =>
    compose(trackedRequestOf(app, message, request, cuts, deliveryId, base).input),
  );

  const http = createHttpServer(app, {
    routes: [],
    authenticate: async () => null,
    isQueueRunning: () => true,
  });
  const { url } = await http.listen();
  const port = new URL(url).port;
  const tokens = await Promise.all(
    Array.from({ length: 2_000 }, async (_, index) => {
      const sent = await sendOne(index + 1);
      return tokensOf(app, sent.deliveries[0]?.id ?? '');
    }),
  );
  for (const [what, kind, link] of [
    ['pixel', 'o', 0],
    ['redirect', 'c', 1],
  ] as const) {
    const paths = tokens.map((token) => `/t/${kind}/${token(link)}`);
    await serve(port, 4_000, paths);
    const rounds: number[] = [];
    for (let round = 0; round < 5; round++) rounds.push(await serve(port, 20_000, paths));
    const cpuUs = median(rounds);
    process.stdout.write(
      `${what}: ${cpuUs.toFixed(1)} µs of a core, ${Math.round(1e6 / cpuUs)} a second of one core\n`,
    );
  }
  await http.close();
  await app.close();
  rmSync(dataDir, { recursive: true, force: true });
}

/** Median over rounds of core-µs per run. */
async function report(what: string, runs: number, work: () => unknown): Promise<void> {
  const rounds: number[] = [];
  for (let round = 0; round < 9; round++) {
    const started = process.threadCpuUsage();
    for (let run = 0; run < runs; run++) await work();
    const { user, system } = process.threadCpuUsage(started);
    rounds.push((user + system) / runs);
  }
  process.stdout.write(`${what}: ${median(rounds).toFixed(1)} µs of a core\n`);
}

/** Core-µs that this process took for each of `total` requests. */
async function serve(port: string, total: number, paths: readonly string[]): Promise<number> {
  const started = process.cpuUsage();
  const child = spawn(
    process.execPath,
    [fileURLToPath(import.meta.url), 'load', port, `${total}`, ...paths],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const [code] = (await once(child, 'exit')) as [number];
  if (code !== 0) throw new Error(`the load ended with ${code}`);
  const { user, system } = process.cpuUsage(started);
  return (user + system) / total;
}
