// `npx node test/bench/open-pages.ts [rounds]`: sends beside 20 open pages of the console, in turns
// with sends alone (target: 0.95 of the rate). Each page follows its stream as the script of the
// console does: half of them load the overview again, half load a list once. Never asserted.
import { setTimeout as wait } from 'node:timers/promises';
import { combine, figuresRow, runRound } from './contender.ts';
import { startBenchSink, svcJson } from './processes.ts';
import { say, sayLoad } from './progress.ts';
import { startBenchService, textOf } from './svc-contender.ts';

const rounds = Number(process.argv[2]) || 5;
const messages = 10_000;
const openPages = 20;
const longestPauseMs = 4_000;

/** Opens a session by the link of `svc open`; returns the cookie. */
async function signIn(url: string): Promise<string> {
  const form = await fetch(url);
  const [, token = ''] = /name="_form" value="([^"]*)"/.exec(await form.text()) ?? [];
  const [own = ''] = String(form.headers.get('set-cookie')).split(';');
  const answer = await fetch(url, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie: own },
    body: new URLSearchParams({ _form: token }),
  });
  return String(answer.headers.get('set-cookie')).split(';')[0] ?? '';
}

/** Keeps a page open until the signal aborts; returns the number of its loads. */
async function keepOpen(
  base: string,
  cookie: string,
  path: string,
  signal: AbortSignal,
): Promise<number> {
  let loads = 0;
  const load = async () => {
    loads += 1;
    const answer = await fetch(`${base}${path}`, { headers: { cookie }, signal });
    return answer.text();
  };
  try {
    const main = /<main[^>]*>/.exec(await load())?.[0] ?? '';
    const of = (name: string) => new RegExp(`data-${name}="([^"]*)"`).exec(main)?.[1] ?? '';
    const query = new URLSearchParams({ since: of('drawn'), in: of('in') });
    const stream = await fetch(`${base}/console/live?${query}`, { headers: { cookie }, signal });
    let hasNews = false;
    const follow = async () => {
      for (let pauseMs = 1_000; hasNews; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
        hasNews = false;
        await load();
        if (of('live') === 'announce') return;
        await wait(pauseMs, null, { signal });
      }
    };
    let following: Promise<void> | null = null;
    for await (const chunk of stream.body ?? []) {
      if (!Buffer.from(chunk).toString().includes('event: change')) continue;
      hasNews = true;
      following ??= follow().finally(() => {
        if (of('live') !== 'announce') following = null;
      });
      following.catch(() => {});
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return loads;
}

const sink = await startBenchSink();
const service = await startBenchService(sink.port);
try {
  sayLoad();
  const contender = await service.contender('ed25519', { connections: 100, text: textOf(2_048) });
  const { url } = await svcJson<{ url: string }>(service.env, 'open');
  const base = `http://127.0.0.1:${service.daemon.httpPort}`;
  const cookie = await signIn(`${base}${new URL(url).pathname}`);
  for (let round = 0; round < contender.warmUpRounds; round++) {
    await runRound(contender, sink, messages);
  }
  const alone = [];
  const beside = [];
  let loads = 0;
  for (let round = 0; round < rounds; round++) {
    alone.push(await runRound(contender, sink, messages));
    const ending = new AbortController();
    const pages = Array.from({ length: openPages }, (_, at) =>
      keepOpen(base, cookie, at % 2 === 0 ? '/console' : '/console/messages', ending.signal),
    );
    await wait(1_000);
    beside.push(await runRound(contender, sink, messages));
    ending.abort();
    for (const count of await Promise.all(pages)) loads += count;
  }
  console.table([
    figuresRow('alone', combine(alone)),
    figuresRow(`beside ${openPages} pages`, combine(beside)),
  ]);
  say(`The pages were loaded ${loads} times in ${rounds} rounds.`);
} finally {
  await service.stop();
  sink.close();
}
