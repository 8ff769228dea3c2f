// Imports and exports on the store: changes, and an export imported again.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createBlock, listBlocks } from '../../../src/people/blocks/blocks.ts';
import { exportBlocks } from '../../../src/people/blocks/export.ts';
import {
  type Block,
  createBlockInput,
  listBlocksQuery,
} from '../../../src/people/blocks/schema.ts';
import { otherOrganization } from '../../outbound/messages/fixtures.ts';
import { stores } from '../../support/command.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { blocked, importInto, today } from './support.ts';

let test: TestApp;
afterEach(() => test.close());

describe.each(stores)('an import of blocks on %s', (store) => {
  beforeEach(async () => {
    test = await testApp({ store });
  });

  const list = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, i) => `a${from + i}@example.com\n`).join('');

  it('counts existing and repeated addresses over many batches', async () => {
    const address = 'A7@example.com';
    await createBlock(test.app, test.caller, createBlockInput.parse({ address }));
    const file = `${list(0, 1_300)}${list(600, 700)}A1299@EXAMPLE.com\n`;
    for (const dryRun of [true, false]) {
      const report = await importInto(test, file, { dryRun, reason: 'unsubscribe' });
      expect(report).toMatchObject({
        dryRun,
        rows: 1_401,
        added: { count: 1_299, reasons: { unsubscribe: 1_299, manual: 0 } },
        existing: { count: 102 },
        skipped: { count: 0 },
        rejected: { count: 0 },
      });
      expect(report.existing.first).toContainEqual({
        line: 8,
        address: 'a7@example.com',
        reason: 'unsubscribe',
      });
      expect(report.added.first).toHaveLength(100);
    }
  });

  it('leaves an existing block as it is', async () => {
    const address = 'ada@example.com';
    await createBlock(test.app, test.caller, createBlockInput.parse({ address, reason: 'bounce' }));
    await importInto(test, 'email,reason\nADA@example.com,unsubscribe\n');
    expect(await blocked(test)).toEqual([`ada@example.com bounce ${today}`]);
  });

  it('adds a block per unsubscribe group, beside other blocks of the address', async () => {
    const [news, offers] = [0, 1].map(() => test.app.newId('unsubscribeGroup'));
    const line = (reason: string, group: string) => `ada@example.com,${reason},${group}\n`;
    const file =
      'address,reason,unsubscribeGroupId\n' +
      `${line('unsubscribe', news ?? '')}${line('bounce', '')}${line('unsubscribe', offers ?? '')}` +
      `${line('unsubscribe', news ?? '')}${line('unsubscribe', 'usg_x')}`;
    for (const dryRun of [true, false]) {
      expect(await importInto(test, file, { dryRun })).toMatchObject({
        added: { count: 3, reasons: { unsubscribe: 2, bounce: 1 } },
        existing: { count: 1 },
        rejected: { count: 1, first: [{ reason: 'names an unknown unsubscribe group: usg_x' }] },
      });
    }
    for (const dryRun of [true, false]) {
      expect(await importInto(test, file, { dryRun })).toMatchObject({
        added: { count: 0 },
        existing: { count: 4 },
      });
    }
    const query = listBlocksQuery.parse({ address: 'ada@example.com' });
    const { items } = await listBlocks(test.app, test.caller, query);
    expect(new Set(items.map((block) => block.unsubscribeGroupId))).toEqual(
      new Set([news, offers, null]),
    );
  });

  it("adds to the caller's organization only", async () => {
    const { caller } = await otherOrganization(test.app);
    await importInto(test, 'ada@example.com\n');
    expect(await blocked({ app: test.app, caller })).toEqual([]);
  });

  it('adds each address once beside a concurrent import of the same addresses', async () => {
    const backwards = list(0, 900).trim().split('\n').reverse().join('\n');
    const reports = await Promise.all([
      importInto(test, list(0, 900)),
      importInto(test, backwards),
    ]);
    expect(reports.reduce((sum, { added }) => sum + added.count, 0)).toBe(900);
  });

  async function exported(format: 'csv' | 'ndjson', reason?: Block['reason']): Promise<string> {
    let text = '';
    for await (const piece of exportBlocks(test.app, test.caller, { format, reason })) {
      text += piece.text;
    }
    return text;
  }

  /** Addresses that a spreadsheet, a CSV reader or a query might trip over. */
  const odd = [
    "=cmd|'/c'!a0@example.com",
    '+1-555@example.com',
    '-x@example.com',
    "'quoted'@example.com",
    '"a..b"@example.com',
    'jörg@xn--mnchen-3ya.example',
    '{$&*}@example.com',
  ];

  it.each(['csv', 'ndjson'] as const)(
    'restores every block from our own export as %s',
    async (format) => {
      const file = odd.map((email) => JSON.stringify({ email, reason: 'complaint' })).join('\n');
      expect(await importInto(test, file)).toMatchObject({ added: { count: odd.length } });
      await importInto(test, list(0, 1_100));
      const before = await exported(format);
      const away = await testApp({ store, start: test.clock.now() + 86_400_000, seed: 2 });
      const home = test;
      test = away;
      try {
        const report = await importInto(test, before);
        expect(report).toMatchObject({ format: 'svc', added: { count: odd.length + 1_100 } });
        expect(await importInto(test, before)).toMatchObject({ added: { count: 0 } });
        const strip = (text: string) =>
          text
            .replace(/blk_[0-9a-z]+/g, 'blk')
            .split('\n')
            .sort();
        expect(strip(await exported(format))).toEqual(strip(before));
      } finally {
        await away.close();
        test = home;
      }
    },
  );

  it('leaves no cell in a CSV export that a spreadsheet would run', async () => {
    await importInto(test, odd.map((email) => JSON.stringify({ email })).join('\n'));
    const [header, ...lines] = (await exported('csv')).trimEnd().split('\n');
    expect(header).toBe('id,address,reason,unsubscribeGroupId,messageId,createdAt');
    const cells = lines.map((line) => line.split(',')[1] ?? '');
    expect(cells.slice(0, 4)).toEqual([
      "'=cmd|'/c'!a0@example.com",
      "'+1-555@example.com",
      "'-x@example.com",
      "''quoted'@example.com",
    ]);
    expect(cells[4]).toBe('"""a..b""@example.com"');
    expect(cells.every((cell) => /^[^=+\-@]/.test(cell))).toBe(true);
  });

  it('is exported oldest first, by reason, and as a header when empty', async () => {
    expect(await exported('csv')).toBe(
      'id,address,reason,unsubscribeGroupId,messageId,createdAt\n',
    );
    expect(await exported('ndjson')).toBe('');
    await importInto(test, 'email,reason\nada@example.com,bounce\nbob@example.com,complaint\n');
    const [line] = (await exported('ndjson', 'complaint')).split('\n');
    expect(JSON.parse(line ?? '')).toEqual({
      id: expect.stringMatching(/^blk_/),
      address: 'bob@example.com',
      reason: 'complaint',
      unsubscribeGroupId: null,
      messageId: null,
      createdAt: today,
    });
  });
});
