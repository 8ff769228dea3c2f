// `npx node test/bench/live-pages.ts [messages]`: the accepts of a real daemon without and beside 20 open pages of the
// console, in turns, three rounds each. The pages were open before, and follow changes as a browser does. Never asserted
// (target: 0.97).
import { setTimeout as wait } from 'node:timers/promises';
import { figuresRow, runRound } from './contender.ts';
import { startBenchSink, svcJson } from './processes.ts';
import { median, say, sayLoad } from './progress.ts';
import { startBenchService, textOf } from './svc-contender.ts';

const messages = Number(process.argv[2]) || 16_000;
const rounds = 3;
const openPages = 20;
const leastPauseMs = 1_000;
const longestPauseMs = 16_000;
const openedMs = 3_000;
/** Lists stop at their first news; a page about one message hears of no other. */
const shown = [
  { path: '', isList: false, about: '' },
  { path: '/messages', isList: true, about: '' },
  { path: '/organization', isList: false, about: 'msg_06dq2k0qz8h3v5m1r9t4w7xy' },
  { path: '/conversations', isList: true, about: '' },
];

/** Signs in by a link; returns the cookie. */
async function signIn(origin: string, env: Record<string, string>): Promise<string> {
  const { pathname } = new URL((await svcJson<{ url: string }>(env, 'open')).url);
  const form = await fetch(`${origin}${pathname}`);
  const [, token = ''] = /name="_form" value="([^"]*)"/.exec(await form.text()) ?? [];
  const [own = ''] = (form.headers.get('set-cookie') ?? '').split(';');
  const body = new URLSearchParams({ _form: token });
  const answer = await fetch(`${origin}${pathname}`, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie: own },
    body,
  });
  return (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
}

/** Follows changes as console.js does, until the signal; counts the loads. */
async function follow(
  origin: string,
  cookie: string,
  { path, isList, about }: (typeof shown)[number],
  signal: AbortSignal,
): Promise<number> {
  const load = async () =>
    (await fetch(`${origin}/console${path}`, { headers: { cookie } })).text();
  await load();
  let loads = 1;
  let pauseMs = leastPauseMs;
  let readyAt = 0;
  const query = new URLSearchParams({ since: String(Date.now()), ...(about && { about }) });
  const url = `${origin}/console/live?${query}`;
  const stream = await fetch(url, { headers: { cookie }, signal });
  try {
    for await (const _ of stream.body ?? []) {
      if (performance.now() < readyAt || (isList && loads > 1)) continue;
      readyAt = performance.now() + pauseMs;
      pauseMs = Math.min(2 * pauseMs, longestPauseMs);
      await load();
      loads += 1;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return loads;
}

const sink = await startBenchSink(0);
const service = await startBenchService(sink.port);
try {
  const mail = { connections: 100, text: textOf(2_048) };
  const contender = await service.contender('ed25519', mail);
  sayLoad();
  for (let round = 0; round < contender.warmUpRounds; round++)
    await runRound(contender, sink, 4_000);
  const origin = `http://127.0.0.1:${service.daemon.httpPort}`;
  const cookie = await signIn(origin, service.env);
  const accepts: Record<'alone' | 'beside', number[]> = { alone: [], beside: [] };
  const rows = [];
  for (let round = 0; round < rounds; round++) {
    for (const kind of ['alone', 'beside'] as const) {
      const ending = new AbortController();
      const pages = Array.from({ length: kind === 'beside' ? openPages : 0 }, (_, at) => {
        const page = shown[at % shown.length];
        return page ? follow(origin, cookie, page, ending.signal) : 0;
      });
      if (pages.length > 0) await wait(openedMs);
      const figures = await runRound(contender, sink, messages);
      ending.abort();
      const loads = (await Promise.all(pages)).reduce((all, one) => all + one, 0);
      accepts[kind].push(figures.acceptPerSecond);
      rows.push({ ...figuresRow(kind, figures), loads });
    }
  }
  console.table(rows);
  const ratio = median(accepts.beside) / median(accepts.alone);
  say(
    `Accepts beside ${openPages} pages: ${ratio.toFixed(2)} of those without (medians of ${rounds}).`,
  );
} finally {
  await service.stop();
  sink.close();
}
