// The cost of a send that names a contact, a kind of mail or a conversation, beside a plain one: npx node
// test/bench/naming.ts [messages [rounds]]. The real daemon over HTTP, one kind after the other in each
// round; medians, and each kind as a part of the plain one. Processor time is the figure to trust on a busy
// machine.
import { combine, type Figures, figuresRow, runRound } from './contender.ts';
import { postAll } from './http-load.ts';
import { startBenchSink, svcJson } from './processes.ts';
import { say, sayLoad } from './progress.ts';
import { bodyOf, startBenchService, textOf } from './svc-contender.ts';

const messages = Number(process.argv[2] ?? 5_000);
const rounds = Number(process.argv[3] ?? 5);
const connections = 32;
const contacts = 2_000;
const conversations = 200;
const warmUpMessages = Math.min(2_000, messages);

type Payload = Record<string, unknown> & { email: object };
type Name = (payload: Payload, index: number) => object;

const sink = await startBenchSink(0);
const service = await startBenchService(sink.port);
try {
  const { apiKey, env } = service;
  const plain = await service.contender('ed25519', { connections, text: textOf(2_048) });
  const body = bodyOf('bench@ed25519.bench.example', textOf(2_048));
  const ask = async <T>(path: string, init: RequestInit = {}): Promise<T> => {
    const url = `http://127.0.0.1:${service.daemon.httpPort}/v1${path}`;
    const headers = { 'x-api-key': apiKey, ...init.headers };
    return (await (await fetch(url, { ...init, headers })).json()) as T;
  };
  const people = Array.from({ length: contacts }, (_, i) => `user${i}@example.com,Person ${i}`);
  await ask('/contacts/import', {
    method: 'POST',
    headers: { 'content-type': 'text/csv' },
    body: `email,name\n${people.join('\n')}\n`,
  });
  const contactIds: string[] = [];
  for (let page = 1; page <= contacts / 100; page++) {
    const { items } = await ask<{ items: { id: string }[] }>(`/contacts?limit=100&page=${page}`);
    contactIds.push(...items.map(({ id }) => id));
  }
  const { id: groupId } = await svcJson<{ id: string }>(
    env,
    ...['unsubscribe-groups', 'create', '--name', 'News'],
  );
  const conversationIds: string[] = [];
  for (let i = 0; i < conversations; i++) {
    const made = await ask<{ id: string }>('/conversations', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    conversationIds.push(made.id);
  }
  const kinds: Record<string, Name> = {
    plain: (payload) => payload,
    'a contact': (payload, i) => ({ ...payload, to: [{ contactId: contactIds[i % contacts] }] }),
    'a group': (payload) => ({
      ...payload,
      email: { ...payload.email, unsubscribeGroupId: groupId },
    }),
    'a conversation': (payload, i) => ({
      ...payload,
      conversationId: conversationIds[i % conversations],
    }),
  };
  let submitted = 0;
  const contenders = Object.entries(kinds).map(([name, named]) => ({
    ...plain,
    name,
    submit(total: number) {
      const first = submitted;
      submitted += total;
      const load = { apiKey, path: '/v1/messages', connections, total };
      return postAll(service.daemon.httpPort, load, (index) =>
        JSON.stringify(named(JSON.parse(body(first + index)), first + index)),
      );
    },
  }));
  sayLoad();
  for (const one of contenders) await runRound(one, sink, warmUpMessages);
  const figures = new Map<string, Figures[]>();
  for (let round = 0; round < rounds; round++) {
    for (const one of contenders) {
      const own = figures.get(one.name) ?? [];
      own.push(await runRound(one, sink, messages));
      figures.set(one.name, own);
    }
  }
  const medians = [...figures].map(([name, all]) => ({ name, ...combine(all) }));
  const base = medians[0] as Figures;
  console.table(
    medians.map(({ name, ...own }) => ({
      ...figuresRow(name, own),
      'of plain: accept': Number((own.acceptPerSecond / base.acceptPerSecond).toFixed(3)),
      'end to end': Number((own.endToEndPerSecond / base.endToEndPerSecond).toFixed(3)),
      'by core-ms': Number((base.coreMsPerMessage / own.coreMsPerMessage).toFixed(3)),
    })),
  );
  say(`${rounds} rounds of ${messages} messages of each kind over ${connections} connections`);
} finally {
  await service.stop();
  sink.close();
}
