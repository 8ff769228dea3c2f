// The cost of an answer from a mailbox beside a plain send (target: 1.3 times as much), by hand: npx node
// test/bench/replies.ts [CONNECTIONS]. One daemon, in turns, from one address, with texts of 2 KB; each
// answer is in a thread of its own. Figures are printed, never asserted.
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import Database from 'better-sqlite3';
import type { Mailbox } from '../../src/identity/mailboxes/schema.ts';
import { type Contender, combine, type Figures, figuresRow, runRound } from './contender.ts';
import { postAll } from './http-load.ts';
import { startBenchSink } from './processes.ts';
import { median, say, sayLoad, showProgress } from './progress.ts';
import { submitAll } from './smtp-load.ts';
import { type BenchService, bodyOf, startBenchService, textOf } from './svc-contender.ts';

const connections = Number(process.argv[2] ?? 100);
const warmUps = 2;
const rounds = 5;
const perRound = 2_000;
const pollMs = 200;
const text = textOf(2_048);

/**
 * Sends `count` mails to the mailbox, each from another person; returns their ids once all are in threads.
 */
async function mailTo(service: BenchService, address: string, count: number): Promise<string[]> {
  const done = showProgress(`${count} mails come in`);
  await submitAll({
    port: service.daemon.smtpPort,
    connections: 32,
    total: count,
    from: 'ada@example.com',
    to: () => address,
    message: (index) =>
      `From: user${index}@example.com\r\nTo: ${address}\r\nMIME-Version: 1.0\r\n` +
      `Message-ID: <q${index}@example.com>\r\nSubject: Question ${index}\r\n\r\nHello ${index}\r\n`,
  });
  const database = new Database(join(service.dataDir, 'svc.db'), { readonly: true });
  const threaded = database.prepare<[], { id: string }>(
    'select message_id as id from thread_messages',
  );
  while (threaded.all().length < count) await wait(pollMs);
  const ids = threaded.all().map(({ id }) => id);
  database.close();
  done();
  return ids;
}

const sink = await startBenchSink();
const service = await startBenchService(sink.port, {
  SVC_SMTP_INBOUND_TRUSTED_NETWORKS: '["127.0.0.1"]',
});
try {
  sayLoad();
  const send = await service.contender('ed25519', { connections, text });
  const mailbox = (await fetch(`http://127.0.0.1:${service.daemon.httpPort}/v1/mailboxes`, {
    method: 'POST',
    headers: { 'x-api-key': service.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ slug: 'desk', domain: 'ed25519.bench.example' }),
  }).then((answer) => answer.json())) as Mailbox;
  const asked = await mailTo(service, mailbox.primaryAddress, (warmUps + rounds) * perRound);
  const plain = bodyOf(mailbox.primaryAddress, text);
  let sent = 0;
  let answered = 0;
  const load = { apiKey: service.apiKey, connections };
  const contenders: Contender[] = [
    {
      ...send,
      name: 'send',
      submit(total) {
        const first = sent;
        sent += total;
        const how = { ...load, path: '/v1/messages', total };
        return postAll(service.daemon.httpPort, how, (index) => plain(first + index));
      },
    },
    {
      ...send,
      name: 'reply',
      submit(total) {
        const first = answered;
        answered += total;
        const path = (index: number) =>
          `/v1/mailboxes/${mailbox.id}/messages/${asked[first + index]}/reply`;
        return postAll(service.daemon.httpPort, { ...load, path, total }, (index) =>
          JSON.stringify({ text: `${first + index} again\n${text}` }),
        );
      },
    },
  ];
  const figures = new Map<string, Figures[]>();
  for (let round = -warmUps; round < rounds; round++) {
    for (const one of contenders) {
      const found = await runRound(one, sink, perRound);
      if (round >= 0) figures.set(one.name, [...(figures.get(one.name) ?? []), found]);
    }
    say(round < 0 ? 'warmed up' : `round ${round + 1} of ${rounds}`);
  }
  console.table([...figures].map(([name, found]) => figuresRow(name, combine(found))));
  const [sends = [], replies = []] = figures.values();
  const cost = sends.map(
    ({ acceptPerSecond }, index) => acceptPerSecond / (replies[index]?.acceptPerSecond ?? 0),
  );
  const core = sends.map(
    ({ coreMsPerMessage }, index) => (replies[index]?.coreMsPerMessage ?? 0) / coreMsPerMessage,
  );
  say(
    `a reply takes ${median(cost).toFixed(2)} times as long as a send until it is accepted, and ` +
      `${median(core).toFixed(2)} times its core-ms until it is delivered`,
  );
} finally {
  await service.stop();
  sink.close();
}
