// The flags of `svc messages list`.
import { expect, it } from 'vitest';
import type { Page } from '../../../src/core/api/pagination.ts';
import type { Message } from '../../../src/outbound/messages/schema.ts';
import { contactNoun } from '../../../src/people/contacts/schema.ts';
import { conversationNoun } from '../../../src/people/conversations/schema.ts';
import { cliWorkspace } from '../../support/cli.ts';
import { send } from '../../support/delivery.ts';
import { testApp } from '../../support/test-app.ts';

it('svc messages list narrows the list by each flag', async () => {
  const test = await testApp();
  const { dataDir, database } = test.app.config;
  const cli = cliWorkspace({ SVC_DATA_DIR: dataDir, SVC_DATABASE_URL: database.url });
  try {
    await send(test.app, test.operator, 'ada@example.com');
    const listed = async (flags: readonly string[]) =>
      (await cli.json<Page<Message>>(['messages', 'list', ...flags])).pagination.total;
    expect(await listed([])).toBe(1);
    const others: Readonly<Record<string, string>> = {
      ...{ status: 'bounced', direction: 'inbound', subject: 'Another', tag: 'another' },
      ...{ to: 'another@example.com', from: 'another@example.com' },
      ...{ conversation: test.app.newId(conversationNoun), contact: test.app.newId(contactNoun) },
      ...{ 'start-date': '2100-01-01', 'end-date': '2000-01-01' },
    };
    for (const [flag, value] of Object.entries(others)) {
      expect([flag, await listed([`--${flag}`, value])]).toEqual([flag, 0]);
    }
  } finally {
    cli.close();
    await test.close();
  }
});
