// Proposals of all mailboxes: `svc mailboxes review` and `svc mailboxes actions` without a mailbox.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, reviewProposals } from '../../../commands/base/review/walk.ts';
import { storeSession } from '../../../commands/base/route.ts';
import { createMailbox, deleteMailbox } from '../../../src/identity/mailboxes/mailboxes.ts';
import type { Mailbox } from '../../../src/identity/mailboxes/schema.ts';
import { rejectAction } from '../../../src/inbox/approvals/actions.ts';
import type { MailboxAction } from '../../../src/inbox/approvals/schema.ts';
import { type CliWorkspace, cliWorkspace } from '../../support/cli.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { act, agentOf, propose } from './fixtures.ts';

let test: TestApp;
let cli: CliWorkspace;
let desk: Mailbox;
let sales: Mailbox;
beforeAll(async () => {
  // The commands use the clock of the machine.
  test = await testApp({ start: Date.now() });
  const { dataDir, database } = test.app.config;
  cli = cliWorkspace({ SVC_DATA_DIR: dataDir, SVC_DATABASE_URL: database.url });
  desk = await createMailbox(test.app, test.operator, { slug: 'desk' });
  sales = await createMailbox(test.app, test.operator, { slug: 'sales' });
});
afterAll(async () => {
  cli.close();
  await test.close();
});

async function proposedIn({ id }: Mailbox): Promise<MailboxAction> {
  await test.clock.advance(1_000);
  return propose(test.app, id, await agentOf(test.app, test.operator, id));
}

/** Reviews all mailboxes with these answers, then skips; returns the shown text and the counts. */
async function reviewAll(...answers: (Answer | (() => Promise<Answer>))[]) {
  const shown: string[] = [];
  const reviewed = await reviewProposals(await storeSession(test.app, test.operator), null, {
    show: (text) => shown.push(text),
    choose: async () => {
      const answer = answers.shift() ?? 'skip';
      return typeof answer === 'string' ? answer : answer();
    },
    why: async () => '',
    edit: async (text) => text,
  });
  return { reviewed, shown: shown.join('\n') };
}

function rejected({ id, mailboxId }: MailboxAction) {
  return rejectAction(test.app, test.operator, { mailboxId, actionId: id }, {});
}

async function actions(...argv: string[]): Promise<string> {
  return (await cli.run(['mailboxes', 'actions', ...argv])).stdout.trim();
}

// The tests run in order: proposals come and go.
describe('svc mailboxes actions', () => {
  it('says that no key has acted while there is neither an action nor a proposal', async () => {
    expect(await actions()).toBe('No key has acted here yet');
  });

  it('names the review in an empty list while a proposal waits in another mailbox', async () => {
    const proposal = await proposedIn(sales);
    const text = 'No such actions here, but proposals wait for a decision: svc mailboxes review';
    expect(await actions(desk.id)).toBe(text);
    expect(await actions('--state', 'executed')).toBe(text);
    await rejected(proposal);
  });

  it('says that no action matches the filters', async () => {
    expect(await actions('--state', 'proposed')).toBe('No action matches these filters');
  });

  it('lists the actions of all mailboxes without one', async () => {
    const agent = await agentOf(test.app, test.operator, desk.id);
    const action = await act(test.app, agent, desk.id);
    const { id } = await proposedIn(sales);
    const lines = await actions();
    expect(lines).toContain(id);
    expect(lines).toContain(action);
    expect(await actions('sales')).not.toContain(action);
    const { items } = await cli.json<{ items: MailboxAction[] }>(['mailboxes', 'actions']);
    expect(items[0]).toMatchObject({ id, mailboxId: sales.id });
  });
});

describe('a review of all mailboxes', () => {
  it('takes the open proposals of each, oldest first', async () => {
    await reviewAll('reject');
    const proposals = [await proposedIn(sales), await proposedIn(desk), await proposedIn(sales)];
    const { reviewed, shown } = await reviewAll('reject', 'reject', 'reject');
    expect([...shown.matchAll(/^(act_\w+): /gm)].map(([, id]) => id)).toEqual(
      proposals.map(({ id }) => id),
    );
    expect(reviewed).toEqual({ approved: 0, rejected: 3, skipped: 0, failed: 0 });
    expect((await reviewAll()).shown).toBe('No proposal waits for a decision.');
  });

  it('reaches the proposals behind the first hundred', async () => {
    const old = await proposedIn(desk);
    await test.clock.advance(1_000);
    const agent = await agentOf(test.app, test.operator, sales.id);
    const others: MailboxAction[] = [];
    for (let count = 0; count < 100; count++) {
      others.push(await propose(test.app, sales.id, agent));
    }
    const { shown } = await reviewAll('quit');
    expect(shown).toContain(`${old.id}: 1 of 101`);
    for (const proposal of [old, ...others]) await rejected(proposal);
  });

  it('continues to the next proposal when a mailbox is deleted meanwhile', async () => {
    const gone = await createMailbox(test.app, test.operator, { slug: 'gone' });
    await proposedIn(gone);
    await proposedIn(desk);
    const deletes = async () => {
      await deleteMailbox(test.app, test.operator, gone.id);
      return 'reject' as const;
    };
    const { reviewed, shown } = await reviewAll(deletes, 'reject');
    expect(shown).toContain('not found');
    expect(reviewed).toEqual({ approved: 0, rejected: 1, skipped: 0, failed: 0 });
  });
});
