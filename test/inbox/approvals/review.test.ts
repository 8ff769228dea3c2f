// `svc mailboxes review`: a person goes through the proposals of a mailbox. Each answer, each
// failing edit, concurrent decisions of others; then the same with keys on a real terminal.

import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { UsageError } from '../../../commands/base/output/failure.ts';
import {
  type Answer,
  type Reviewed,
  type Reviewer,
  reviewProposals,
} from '../../../commands/base/review/walk.ts';
import { storeSession } from '../../../commands/base/route.ts';
import { createKey, revokeKey } from '../../../src/access/keys/keys.ts';
import { deleteMailbox, pauseMailbox } from '../../../src/identity/mailboxes/mailboxes.ts';
import { rejectAction } from '../../../src/inbox/approvals/actions.ts';
import type { MailboxAction } from '../../../src/inbox/approvals/schema.ts';
import { approveAction } from '../../../src/inbox/replies/approve.ts';
import { cliWorkspace } from '../../support/cli.ts';
import { type HttpApi, httpApi } from '../../support/http-client.ts';
import { hasTerminal, onTerminal } from '../../support/terminal.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { config, type Desk, deskOf, type Listed, rowsIn } from '../replies/world.ts';

let test: TestApp;
let api: HttpApi;
let desk: Desk;
let agent: HttpApi;
let keyId: string;
let made = 0;
beforeAll(async () => {
  // The command uses the clock of the machine.
  test = await testApp({ config, start: Date.now() });
  api = httpApi(test);
});
afterAll(async () => {
  await api.close();
  await test.close();
});

// A mailbox for each test, and a key that only proposes in it.
beforeEach(async () => {
  made += 1;
  desk = await deskOf({ test, api }, `desk${made}`);
  const { id, key } = await createKey(test.app, test.operator, {
    name: 'agent\u202e',
    role: 'developer',
    constraints: { mailboxIds: [desk.id] },
    sendMode: 'approval',
  });
  keyId = id;
  agent = api.as(key ?? '');
});

/** Proposes a reply to a received mail; ids of actions ascend in the order of creation. */
async function proposed(body: object = { text: 'Thank you' }): Promise<string> {
  const { body: result } = await desk.reply(await desk.arrive(), body, agent);
  await test.clock.advance(1_000);
  return result.actionId ?? '';
}

const proposedNew = async (body: object) => {
  const { body: result } = await desk.send(
    { to: ['bo@example.com'], subject: 'New', ...body },
    agent,
  );
  await test.clock.advance(1_000);
  return result.actionId ?? '';
};

async function actionOf(id: string): Promise<MailboxAction> {
  return (await api.get<MailboxAction>(`${desk.path}/actions/${id}`)).body;
}

interface Said {
  answers?: readonly (Answer | (() => Promise<Answer>))[];
  note?: string;
  edits?: readonly ((text: string) => string)[];
}

/** Reviews with these answers, then quits; returns the shown text and the counts. */
async function review({ answers = [], note = '', edits = [] }: Said) {
  const [next, changes] = [[...answers], [...edits]];
  const shown: string[] = [];
  const opened: string[] = [];
  const reviewer: Reviewer = {
    show: (text) => shown.push(text),
    choose: async () => {
      const answer = next.shift() ?? 'quit';
      return typeof answer === 'string' ? answer : answer();
    },
    why: async () => note,
    edit: async (text) => {
      opened.push(text);
      return changes.shift()?.(text) ?? text;
    },
  };
  const reviewed = await reviewProposals(
    await storeSession(test.app, test.operator),
    desk.id,
    reviewer,
  );
  return { reviewed, opened, shown: shown.join('\n') };
}

const none: Reviewed = { approved: 0, rejected: 0, skipped: 0, failed: 0 };

describe('a review', () => {
  it('takes the open proposals, oldest first: approve, reject, skip', async () => {
    const ids = [await proposed(), await proposed(), await proposed()];
    const { reviewed, shown } = await review({
      answers: ['approve', 'reject', 'skip'],
      note: 'not so',
    });
    expect(reviewed).toEqual({ ...none, approved: 1, rejected: 1, skipped: 1 });
    const actions = await Promise.all(ids.map(actionOf));
    expect(actions.map(({ state, note }) => [state, note])).toEqual([
      ['executed', null],
      ['rejected', 'not so'],
      ['proposed', null],
    ]);
    expect(actions[0]?.decidedBy).toEqual({ kind: 'user', id: null, displayName: 'operator' });
    expect([...shown.matchAll(/^(act_\w+): (\d of \d)$/gm)].map(([, ...parts]) => parts)).toEqual([
      [ids[0], '1 of 3'],
      [ids[1], '2 of 3'],
      [ids[2], '3 of 3'],
    ]);
    expect(shown).toContain(`Sent as ${actions[0]?.messageId}.`);
  });

  it('leaves the present proposal and later ones undecided after quit', async () => {
    const ids = [await proposed(), await proposed()];
    expect((await review({ answers: ['quit'] })).reviewed).toEqual(none);
    for (const id of ids) expect((await actionOf(id)).state).toBe('proposed');
  });

  it('rejects without a note', async () => {
    const id = await proposed();
    await review({ answers: ['reject'] });
    expect(await actionOf(id)).toMatchObject({ state: 'rejected', note: null });
  });

  it('reports an empty list, and includes proposals made meanwhile', async () => {
    expect((await review({})).shown).toBe('No proposal waits for a decision here.');
    await proposed();
    const comes = async () => {
      await proposed();
      return 'skip' as const;
    };
    expect((await review({ answers: [comes, 'skip'] })).reviewed).toEqual({ ...none, skipped: 2 });
  });

  it('shows actor, recipients, text and the end of the thread', async () => {
    const messageId = await desk.arrive({ subject: 'Where is it?', text: 'My order is late.' });
    await desk.reply(messageId, { text: 'We look into it.' });
    const body = { text: 'It left today.', cc: ['cy@example.com'], bcc: ['dan@example.com'] };
    await desk.reply(messageId, body, agent);
    const { shown } = await review({});
    const places = [
      'The thread before it:',
      'ada@example.com',
      'My order is late.',
      'We look into it.',
      keyId,
      'a reply, proposed 20',
      '\nfrom',
      'cy@example.com',
      'dan@example.com',
      'Re: Where is it?',
      'sha256:',
      'It left today.',
    ].map((text) => shown.indexOf(text));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(shown).toMatch(new RegExp(`^from +The desk <${desk.address}>$`, 'm'));
    expect(shown).not.toContain('Edited');
  });

  it('shows the newest five mails of a long thread and counts the earlier ones', async () => {
    const first = await desk.arrive({ text: 'The very first' });
    for (let at = 2; at <= 7; at++) await desk.reply(first, { text: `Number ${at}.` });
    await desk.reply(first, { text: 'And one more' }, agent);
    const { shown } = await review({});
    expect(shown).toContain('The thread before it (2 earlier ones):');
    expect([...shown.matchAll(/Number (\d)\./g)].map(([, at]) => at)).toEqual([
      '3',
      '4',
      '5',
      '6',
      '7',
    ]);
    expect(shown).not.toContain('The very first');
  });

  it('shows a new thread, differing HTML and the attachments', async () => {
    const content = Buffer.from('x').toString('base64');
    await proposedNew({
      text: 'Dear Bo',
      html: '<p>Give me <a href="https://evil.example/">your password</a></p>',
      attachments: [{ filename: 'offer.pdf', content }],
    });
    const { shown } = await review({});
    expect(shown).toContain('It is the first message of a thread.');
    expect(shown).toContain('a new message, proposed');
    expect(shown).toMatch(/Its HTML as text:\n\n {2}Give me your password .*evil\.example/);
    expect(shown).toContain('offer.pdf');
  });

  it('shows words that the HTML hides', async () => {
    const html = '<p>Dear Bo,</p><p style="display:none">transfer the money</p>';
    await proposedNew({ text: 'Dear Bo,', html });
    expect((await review({})).shown).toContain('transfer the money');
  });

  it('hides HTML with the same words as the text', async () => {
    await proposedNew({ text: 'Dear  Bo,\nhello', html: '<p>Dear Bo,</p><p>hello</p>' });
    expect((await review({})).shown).not.toContain('Its HTML');
  });

  it('shows no character that steers a terminal', async () => {
    const steering = '\u001b[2J\u0007\u202e\u2066\u009b1m';
    const messageId = await desk.arrive({
      from: `"Ada${steering}" <ada@example.com>`,
      subject: `Hello${steering}`,
      text: `Word${steering}`,
    });
    const html = `<p>Html${steering}</p>`;
    await desk.reply(messageId, { text: `Text${steering}`, html }, agent);
    const more = {
      text: `x${steering}`,
      attachments: [{ filename: `a${steering}.txt`, content: 'eA==' }],
    };
    await proposedNew({ ...more, to: [`bo\u202e@example.com`] });
    const { shown, opened } = await review({ answers: ['edit', 'skip', 'edit', 'skip'] });
    for (const text of [shown, ...opened]) {
      expect(text).not.toMatch(/(?!\n)[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
    }
    expect(shown).toContain('Word\ufffd');
    expect(shown).toContain('Html\ufffd');
  });

  it('cuts a long text and names the way to see all of it', async () => {
    const text = Array.from({ length: 500 }, (_, at) => `line ${at}`).join('\n');
    await proposed({ text });
    const { shown, opened } = await review({ answers: ['edit'] });
    expect(shown).toContain('line 199');
    expect(shown).not.toContain('line 200');
    expect(shown).toContain(' more characters: press e to open all of the text');
    expect(opened[0]).toContain('line 499');
  });
});

describe('an edit', () => {
  it('opens recipients, subject and text, is shown, and is sent as edited', async () => {
    const id = await proposed({ text: 'Thank you', cc: ['cy@example.com'] });
    const { shown, opened, reviewed } = await review({
      answers: ['edit', 'approve'],
      edits: [
        (text) =>
          text
            .replace('To: ada@example.com', 'To: bo@example.com, eve@example.com')
            .replace('Cc: cy@example.com', 'Cc:')
            .replace('Re: A question', 'An answer')
            .replace('Thank you', 'Thanks, Bo.\n\nSee you'),
      ],
    });
    expect(opened).toEqual([
      'To: ada@example.com\nCc: cy@example.com\nBcc:\nSubject: Re: A question\n\nThank you\n',
    ]);
    expect(shown.slice(shown.indexOf('Edited:')).split('\n').slice(0, 5)).toEqual([
      'Edited:',
      '  recipients (to): without ada@example.com, with bo@example.com, eve@example.com',
      '  recipients (cc): without cy@example.com',
      '  subject: Re: A question → An answer',
      '  text: changed',
    ]);
    expect(reviewed.approved).toBe(1);
    const { messageId } = await actionOf(id);
    expect(await desk.email(messageId)).toMatchObject({
      toEmails: ['bo@example.com', 'eve@example.com'],
      ccEmails: null,
      subject: 'An answer',
      text: 'Thanks, Bo.\n\nSee you',
    });
    const audit = await api.get<Listed<{ details: object }>>(`/v1/audit?resource=${id}`);
    expect(audit.body.items[0]?.details).toMatchObject({
      edits: {
        to: { before: ['ada@example.com'], after: ['bo@example.com', 'eve@example.com'] },
        cc: { before: ['cy@example.com'], after: [] },
        subject: { before: 'Re: A question', after: 'An answer' },
        words: ['text'],
      },
    });
  });

  it('of the text drops the HTML, which would still hold the old words', async () => {
    const id = await proposed({ text: 'Thank you', html: '<p>Thank you</p>' });
    const { shown } = await review({
      answers: ['edit', 'approve'],
      edits: [(text) => text.replace('Thank', 'Bless')],
    });
    expect(shown).toContain('  html: left out, because the text changed');
    const sent = await desk.email((await actionOf(id)).messageId);
    expect([sent.text, sent.html]).toEqual(['Bless you', null]);
  });

  it('of the subject alone keeps text and HTML', async () => {
    const id = await proposed({ html: '<p>Thank <b>you</b></p>' });
    const { opened } = await review({
      answers: ['edit', 'approve'],
      edits: [(text) => text.replace('A question', 'It')],
    });
    expect(opened[0]).toContain('\n\nThank you\n');
    const sent = await desk.email((await actionOf(id)).messageId);
    expect([sent.subject, sent.html]).toEqual(['Re: It', '<p>Thank <b>you</b></p>']);
  });

  it('starts from the previous edit', async () => {
    const id = await proposed();
    const { opened } = await review({
      answers: ['edit', 'edit', 'approve'],
      edits: [(text) => text.replace('Thank', 'Bless'), (text) => text.replace('ada@', 'bo@')],
    });
    expect(opened[1]).toContain('Bless you');
    const sent = await desk.email((await actionOf(id)).messageId);
    expect([sent.toEmails, sent.text]).toEqual([['bo@example.com'], 'Bless you']);
  });

  it('without a change is reported, and sends the proposal byte for byte', async () => {
    const text = 'Thank\r\nyou\u0007  \n\n';
    const id = await proposed({ text });
    const { shown } = await review({ answers: ['edit', 'approve'] });
    expect(shown).toContain('Nothing was changed.');
    expect((await desk.email((await actionOf(id)).messageId)).text).toBe(text);
    const audit = await api.get<Listed<{ details: object }>>(`/v1/audit?resource=${id}`);
    expect(audit.body.items[0]?.details).toMatchObject({ edits: {} });
  });

  it.each<[string, (text: string) => string, string]>([
    ['empties the file', () => ' \n', 'the edited mail is empty'],
    ['spoils a field', (text) => text.replace('Cc:', 'Copy:'), 'line 2 of the edited mail: To, Cc'],
    ['has no empty line', (text) => text.replace('\n\n', '\n'), 'line 5 of the edited mail'],
  ])('that %s is dropped, and the question is repeated', async (_, change, words) => {
    const id = await proposed();
    const { shown } = await review({ answers: ['edit', 'approve'], edits: [change] });
    expect(shown).toContain(words);
    expect((await desk.email((await actionOf(id)).messageId)).text).toBe('Thank you');
  });

  it('that empties the text or the recipients is refused at approval, and the proposal stays open', async () => {
    const [first, second] = [await proposed(), await proposed()];
    const { shown, reviewed } = await review({
      answers: ['edit', 'approve', 'skip', 'edit', 'approve', 'skip'],
      edits: [
        (text) => text.replace('Thank you', ''),
        (text) => text.replace('ada@example.com', 'nobody\u0001@example.com'),
      ],
    });
    expect(shown).toContain('svc: text: needs text, html or an attachment');
    expect(shown).toContain('svc: edits.to.0:');
    expect(reviewed).toEqual({ ...none, skipped: 2 });
    for (const id of [first, second]) expect((await actionOf(id)).state).toBe('proposed');
  });

  it('with a failing editor is reported, and the proposal stays open', async () => {
    const id = await proposed();
    const fails = () => {
      throw new UsageError('the editor "vi" ended with 1: the edit was discarded');
    };
    const { shown } = await review({ answers: ['edit', 'skip'], edits: [fails] });
    expect(shown).toContain('svc: the editor "vi" ended with 1');
    expect((await actionOf(id)).state).toBe('proposed');
  });
});

describe.skipIf(!hasTerminal)('svc mailboxes review', () => {
  const workspace = () => {
    const { dataDir, database } = test.app.config;
    return cliWorkspace({ SVC_DATA_DIR: dataDir, SVC_DATABASE_URL: database.url });
  };

  it('takes letters on a terminal, edits with $EDITOR and ignores a bare Enter', async () => {
    const cli = workspace();
    const ids = [];
    for (let at = 0; at < 5; at++) ids.push(await proposed());
    // The editor fails at first, then changes the address and records the state of the file.
    const editor = join(cli.directory, 'editor');
    const once = join(cli.directory, 'once');
    const lines = [
      '#!/bin/sh',
      `[ -e ${once} ] || { touch ${once}; exit 3; }`,
      `stat -c %a "$2" > ${join(cli.directory, 'mode')}; echo "$2" > ${join(cli.directory, 'file')}`,
      'sed -i "$1" "$2"',
    ];
    writeFileSync(editor, `${lines.join('\n')}\n`);
    chmodSync(editor, 0o755);
    const ask = 'skip or quit?';
    const { code, output } = await onTerminal(cli, `mailboxes review ${desk.address}`, {
      env: { EDITOR: `${editor} s/ada@/bo@/` },
      dialogue: [
        { after: '1 of 5' },
        { after: ask, keys: '\r' },
        { after: 'a) Approve', keys: 'a\r' },
        { after: '2 of 5' },
        { after: ask, keys: 'r\r' },
        { after: 'proposed it:', keys: 'too soon\r' },
        { after: '3 of 5' },
        { after: ask, keys: 's\r' },
        { after: '4 of 5' },
        { after: ask, keys: 'e\r' },
        { after: 'ended with 3' },
        { after: ask, keys: 'e\r' },
        { after: 'with bo@example.com' },
        { after: ask, keys: 'a\r' },
        { after: '5 of 5' },
        { after: ask, keys: 'q\r' },
      ],
    });
    expect([code, output]).toEqual([
      0,
      expect.stringContaining('2 approved, 1 rejected, 1 skipped'),
    ]);
    const actions = await Promise.all(ids.map(actionOf));
    const states = actions.map(({ state }) => state);
    expect(states).toEqual(['executed', 'rejected', 'proposed', 'executed', 'proposed']);
    expect(actions[1]?.note).toBe('too soon');
    expect(actions[3]?.summary).toMatchObject({ to: ['bo@example.com'] });
    const told = (name: string) => readFileSync(join(cli.directory, name), 'utf8').trim();
    expect(told('mode')).toBe('600');
    expect(() => readFileSync(told('file'))).toThrow('ENOENT');
    cli.close();
  });

  it('ends with 130 on Ctrl-C and keeps earlier decisions', async () => {
    const cli = workspace();
    const ids = [await proposed(), await proposed()];
    const { code, output } = await onTerminal(cli, `mailboxes review ${desk.address}`, {
      dialogue: [
        { after: '1 of 2' },
        { after: 'quit?', keys: 'a\r' },
        { after: '2 of 2' },
        { after: 'quit?', keys: '\u0003' },
      ],
    });
    expect([code, output]).toEqual([
      130,
      expect.stringContaining('svc: stopped; decisions already made'),
    ]);
    expect((await actionOf(ids[0] ?? '')).state).toBe('executed');
    expect((await actionOf(ids[1] ?? '')).state).toBe('proposed');
    cli.close();
  });

  it('ends with 8 when an approved mail could not be sent', async () => {
    const cli = workspace();
    await proposed();
    await revokeKey(test.app, test.operator, keyId);
    const dialogue = [{ after: 'quit?', keys: 'a\r' }];
    const { code, output } = await onTerminal(cli, `mailboxes review ${desk.address}`, {
      dialogue,
    });
    expect([code, output]).toEqual([
      8,
      expect.stringContaining('svc: 1 of the approved proposals could not be sent'),
    ]);
    cli.close();
  });

  it('names the commands to use without a terminal, and with --json', async () => {
    const cli = workspace();
    const id = await proposed();
    const piped = await cli.run(['mailboxes', 'review', desk.address], { input: 'a\r' });
    expect(piped).toMatchObject({ code: 2, stdout: '' });
    expect(piped.stderr).toContain('svc mailboxes actions --state proposed');
    expect(piped.stderr).toMatch(/approve or reject ACTION/);
    const json = await onTerminal(cli, `mailboxes review ${desk.address} --json`);
    expect([json.code, JSON.parse(json.output)]).toEqual([
      2,
      { _tag: 'ValidationError', message: expect.stringContaining('mailboxes actions') },
    ]);
    expect((await actionOf(id)).state).toBe('proposed');
    cli.close();
  });
});

// Last, because days pass here.
describe('a review beside other changes', () => {
  const at = (actionId: string) => ({ mailboxId: desk.id, actionId });

  it('reports a proposal decided meanwhile, and continues to the next', async () => {
    const [first, second, third] = [await proposed(), await proposed(), await proposed()];
    const { deliveries: before = 0 } = await rowsIn(test);
    const { app, operator } = test;
    const other = { ...operator, keyName: 'Bo' };
    const approved = async () => {
      await approveAction(app, other, at(first), {});
      return 'reject' as const;
    };
    const rejected = async () => {
      await rejectAction(app, other, at(second), { note: 'mine' });
      return 'approve' as const;
    };
    const { shown, reviewed } = await review({
      answers: [approved, rejected, 'approve'],
      note: 'no',
    });
    expect(shown).toContain(`${first} is already executed: it is decided only once`);
    expect(shown).toContain(`${first} is already executed by operator.`);
    expect(shown).toContain(`${second} is already rejected by operator.`);
    expect(reviewed).toEqual({ ...none, approved: 1 });
    expect(await actionOf(second)).toMatchObject({ state: 'rejected', note: 'mine' });
    expect((await actionOf(third)).state).toBe('executed');
    expect((await rowsIn(test)).deliveries).toBe(before + 2);
  });

  it('reports a proposal expired during the question and skips expired ones', async () => {
    const first = await proposed();
    await test.clock.advance(3 * 24 * 3_600_000);
    const second = await proposed();
    const waits = async () => {
      await test.clock.advance(4 * 24 * 3_600_000);
      return 'approve' as const;
    };
    const { shown } = await review({ answers: [waits, 'skip'] });
    expect(shown).toContain(`${first} is already expired.`);
    expect((await review({ answers: ['skip'] })).shown).not.toContain(`${first}: `);
    expect((await actionOf(second)).state).toBe('proposed');
  });

  it('reports the refusal of a paused mailbox and repeats the question', async () => {
    const id = await proposed();
    await pauseMailbox(test.app, test.operator, desk.id);
    const { shown, reviewed } = await review({ answers: ['approve', 'skip'] });
    expect(shown).toContain('is paused: resume it');
    expect(reviewed).toEqual({ ...none, skipped: 1 });
    expect((await actionOf(id)).state).toBe('proposed');
  });

  it('ends with 404 for a deleted mailbox', async () => {
    await proposed();
    const gone = async () => {
      await deleteMailbox(test.app, test.operator, desk.id);
      return 'approve' as const;
    };
    await expect(review({ answers: [gone] })).rejects.toMatchObject({ status: 404 });
  });

  it('counts an approval under a revoked key as failed', async () => {
    await proposed();
    await revokeKey(test.app, test.operator, keyId);
    const { shown, reviewed } = await review({ answers: ['approve'] });
    expect(shown).toMatch(/It was not sent: The API key key_\w+ is revoked/);
    expect(reviewed).toEqual({ ...none, failed: 1 });
  });

  it("shows the proposal without its thread after the thread's deletion", async () => {
    const id = await proposed();
    const { threadId } = await actionOf(id);
    for (let i = 0; i < 2; i++) await api.delete(`${desk.path}/threads/${threadId}`);
    const { shown } = await review({ answers: ['approve'] });
    expect(shown).toContain('Thank you');
    expect(shown).toContain('Sent as msg_');
  });
});
