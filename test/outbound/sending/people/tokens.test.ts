// No live token can be read after a day of sign-ins and changes of address: in the log, the bytes
// of the store and of a backup, and the answer of any route to a key with every right. A server
// that quotes a mail does not bring the token back.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { routes } from '../../../../daemon/http/routes.ts';
import { askForAddress } from '../../../../src/outbound/sending/people/address.ts';
import { greetBrowser } from '../../../../src/outbound/sending/people/warnings.ts';
import { httpApi } from '../../../support/http-client.ts';
import { peopleWorld, visitor } from './people-world.ts';

it('no live token can be read anywhere', async () => {
  const log = new PassThrough();
  const lines: Buffer[] = [];
  log.on('data', (line: Buffer) => lines.push(line));
  const world = await peopleWorld('sqlite', {}, { log });
  const { app, test } = world;
  const tokens: string[] = [];
  for (let person = 0; person < 6; person++) {
    const email = `p${person}@gmail.example`;
    const personId = await world.join(email, { role: person === 0 ? 'owner' : 'editor' });
    await world.ask(email);
    await greetBrowser(app, { ...visitor, personId, browserToken: 'first' });
    await greetBrowser(app, { ...visitor, personId, browserToken: 'second' });
    await askForAddress(app, { ...visitor, personId, email: `q${person}@gmail.example` });
    tokens.push(...(await world.arrived()).map(({ token }) => token));
    await test.clock.advance(3_600_000);
  }
  expect(new Set(tokens).size).toBe(24);
  const leaks = (text: string) => tokens.filter((token) => text.includes(token));
  await app.store.write((trx) => sql`select 1`.execute(trx));
  const files = readdirSync(app.config.dataDir, { recursive: true, encoding: 'utf8' });
  const bytes = files.flatMap((file) => {
    try {
      return readFileSync(join(app.config.dataDir, file)).toString('latin1');
    } catch {
      return [];
    }
  });
  expect(bytes.join('').length).toBeGreaterThan(100_000);
  expect(leaks(bytes.join(''))).toEqual([]);
  expect(leaks(Buffer.concat(lines).toString())).toEqual([]);
  const api = httpApi(test);
  const { rows } = await sql<{ id: string }>`
    select id from messages union all select id from deliveries union all select id from contents`.execute(
    app.store.db,
  );
  const ids = ['', ...rows.slice(0, 3).map(({ id }) => id)];
  for (const { method, path } of routes) {
    if (method !== 'GET') continue;
    for (const id of path.includes('{') ? ids.slice(1) : ['']) {
      const { body } = await api.get(path.replaceAll(/\{\w+\}/g, id));
      expect([path, leaks(JSON.stringify(body ?? null))]).toEqual([path, []]);
    }
  }
  await api.close();
  await world.close();
});
