// Threads by the words in them: over HTTP, the same on both engines, and a page that is bounded for
// any number of matching messages.
import { beforeEach, describe, expect, it } from 'vitest';
import { createMailbox } from '../../../src/identity/mailboxes/mailboxes.ts';
import type { Thread } from '../../../src/inbox/threads/schema.ts';
import { bothStores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';
import { arrive, type ThreadApi, takeMail, threadAll, threadsOver } from './mails.ts';

describe.each(bothStores)('the search of threads by words, on %s', (store) => {
  const { test, api } = eachApi({ store });
  let threads: ThreadApi;
  beforeEach(async () => {
    threads = await threadsOver(test.app, api);
  });

  const subjects = (items: readonly Thread[]) => items.map(({ subject }) => subject);
  const found = async (q: string, more = '') =>
    subjects((await threads.list(`?q=${encodeURIComponent(q)}${more}`)).items);

  it('finds threads with all words in one message, by subject, sender and text', async () => {
    const { app } = test;
    await arrive(app, {
      subject: 'Café Zürich',
      text: 'The annual report is 東京都 ready',
      id: 'a@x',
    });
    await test.clock.advance(1_000);
    await arrive(app, { subject: 'Plan', from: 'Bo Ek <bo@example.org>', text: 'report annual' });
    expect(await found('REPORT')).toEqual(['Plan', 'Café Zürich']);
    expect(await found('cafe zurich')).toEqual(['Café Zürich']);
    expect(await found('"annual report"')).toEqual(['Café Zürich']);
    expect(await found('from:bo annual')).toEqual(['Plan']);
    expect(await found('from:bo@example.org')).toEqual(['Plan']);
    expect(await found('subject:plan')).toEqual(['Plan']);
    expect(await found('京都')).toEqual(['Café Zürich']);
    expect(await found('ann*')).toEqual(['Plan', 'Café Zürich']);
    expect(await found('plan cafe')).toEqual([]);
    expect(await found('has:attachment')).toEqual([]);
    expect(await found('!?')).toEqual([]);
  });

  it('finds a thread once, however many of its messages match', async () => {
    await arrive(test.app, { subject: 'Once', text: 'apple', id: 'a@x' });
    for (let n = 0; n < 4; n += 1) await arrive(test.app, { inReplyTo: 'a@x', text: 'apple' });
    expect(await found('apple')).toEqual(['Once']);
  });

  it('applies the other filters and the mailbox, and forgets deleted messages', async () => {
    const { app, caller } = test;
    await createMailbox(app, caller, { slug: 'desk', address: 'desk@sandbox.test' });
    await arrive(app, { subject: 'Theirs', text: 'apple', rcpt: ['desk@sandbox.test'] });
    await arrive(app, { subject: 'Ours', text: 'apple' });
    await arrive(app, { subject: 'Away', text: 'apple', id: 'away@x' });
    const [away] = (await threads.list('?limit=1')).items;
    await api.post(`${threads.path}/${away?.id}/labels`, { labels: ['fruit'] });
    await api.post(`${threads.path}/${away?.id}/notes`, { body: 'a pear' });
    expect(await found('apple')).toEqual(['Away', 'Ours']);
    expect(await found('apple', '&label=fruit')).toEqual(['Away']);
    expect(await found('apple', '&starred=true')).toEqual([]);
    expect(await found('pear')).toEqual([]);
    await api.delete(`${threads.path}/${away?.id}`);
    expect(await found('apple')).toEqual(['Ours']);
    expect(await found('apple', '&folder=trash')).toEqual(['Away']);
    await api.delete(`${threads.path}/${away?.id}`);
    expect(await found('apple', '&folder=trash')).toEqual([]);
  });

  it('pages in the order of the list, over few and many results', {
    timeout: 120_000,
  }, async () => {
    const { app, clock } = test;
    const many = 1_100;
    const take = (n: number) =>
      takeMail(app, {
        subject: `mail ${n}`,
        from: `p${n}@example.com`,
        text: n % 3 === 0 ? 'common rare' : 'common',
      });
    for (let n = 0; n < many; n += 100) {
      await Promise.all(Array.from({ length: 100 }, (_, i) => take(n + i)));
      await threadAll(app);
      await clock.advance(1_000);
    }
    const all = subjects(await walk(''));
    expect(all).toHaveLength(many);
    const isThird = (subject: string | null) => Number(subject?.split(' ')[1]) % 3 === 0;
    expect(subjects(await walk('&q=common'))).toEqual(all);
    expect(subjects(await walk('&q=rare'))).toEqual(all.filter(isThird));
    expect(subjects(await walk('&q=common%20rare'))).toEqual(all.filter(isThird));
  });

  async function walk(filters: string): Promise<Thread[]> {
    const seen: Thread[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page = await threads.list(`?limit=100${filters}${cursor && `&cursor=${cursor}`}`);
      seen.push(...page.items);
      cursor = page.nextCursor;
    }
    return seen;
  }

  it('takes the syntax of a query as text', async () => {
    await arrive(test.app, { subject: 'Safe', text: 'a b subject near or and 1' });
    for (const q of [
      "' or 1=1 --",
      '"',
      '* OR *',
      'NEAR(a b)',
      'a AND',
      '{subject} : a',
      "\\'a",
      'a & !b',
      ':*',
    ]) {
      const { status } = await api.get(`${threads.path}?q=${encodeURIComponent(q)}`);
      expect([q, status]).toEqual([q, 200]);
    }
  });

  it('refuses a thousand words', async () => {
    const q = Array.from({ length: 41 }, (_, n) => `w${n}`).join(' ');
    const { status, body } = await api.get<{ fields: object }>(
      `${threads.path}?q=${encodeURIComponent(q)}`,
    );
    expect([status, Object.keys(body.fields)]).toEqual([422, ['q']]);
    expect((await api.get(`${threads.path}?q=${'x'.repeat(1_001)}`)).status).toBe(422);
  });
});
