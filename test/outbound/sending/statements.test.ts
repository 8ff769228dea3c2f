// The statements of an accepted message: a send costs these and no more. A feature that adds a
// statement to the way of each mail stands here, and is weighed by the bench first.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bothStores } from '../../support/command.ts';
import { type HttpApi, httpApi } from '../../support/http-client.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { watchQueries } from '../../support/watched-queries.ts';
import { payload } from '../messages/fixtures.ts';

/** Verb and table of each statement that `POST /v1/messages` runs, in the order of names. */
const statements = [
  'insert breakdown_counters',
  'insert counters',
  'insert daily_usage',
  'insert deliveries',
  'insert events',
  'insert message_counts',
  'insert message_slots',
  'insert messages',
  'insert recipients',
  'insert unsealed_events',
  'select blocks',
  'select contents',
  'select domains',
  'select organizations',
  'select senders',
  'update contents',
];

/** Statements of the transaction, and of work that another mail may have begun. */
const aside = /^(?:begin|commit|savepoint|release|rollback|set )|"turn" is not null/i;

const shape = /^(?<verb>insert|select|update|delete)\b(?:.*?\b(?:into|from))? "?(?<table>\w+)/is;

describe.each(bothStores)('an accepted message on %s', (store) => {
  let test: TestApp;
  let api: HttpApi;
  beforeEach(async () => {
    test = await testApp({ store });
    api = httpApi(test);
    // The first mail makes rows that the second finds.
    for (const subject of ['One', 'Two']) {
      await api.post('/v1/messages', payload({ subject }));
    }
  });
  afterEach(async () => {
    await api.close();
    await test.close();
  });

  it('costs these statements', async () => {
    const watch = watchQueries();
    const { status } = await api.post('/v1/messages', payload());
    const found = watch.take();
    watch.stop();
    expect(status).toBe(201);
    const words = found.flatMap(({ text, times }) => {
      const { verb, table } = shape.exec(text)?.groups ?? {};
      return aside.test(text) ? [] : Array.from({ length: times }, () => `${verb} ${table}`);
    });
    expect(words.sort()).toEqual(statements);
  });
});
