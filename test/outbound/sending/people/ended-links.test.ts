// Mail whose link ended while the mail waited for the server: it does not leave, as a press on its
// button could only disappoint.
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createMember,
  deleteMember,
  listMembers,
  resendInvitation,
} from '../../../../src/access/members/members.ts';
import { createSender, deleteSender } from '../../../../src/identity/senders/senders.ts';
import { askForAddress } from '../../../../src/outbound/sending/people/address.ts';
import { resendProof } from '../../../../src/outbound/sending/sender-proof/prove.ts';
import { stores } from '../../../support/command.ts';
import { type PeopleWorld, peopleWorld, visitor } from './people-world.ts';

const ada = 'ada@gmail.example';
const minute = 60_000;

/** A world with a member, Ada. */
type WithAda = PeopleWorld & { personId: string };

interface Asked {
  /** Ends the link of the mail. */
  end(): Promise<unknown>;
  /** Subjects of the mails that arrive afterwards. */
  arrive: RegExp[];
}

const invite = ({ app, test: { operator } }: PeopleWorld) =>
  createMember(app, operator, { email: 'ben@b.example', role: 'editor', name: null, mail: true });

/** Puts a mail with a link into the queue, for each end of such a link. */
const ends: Readonly<Record<string, (world: WithAda) => Promise<Asked>>> = {
  async 'an invitation that was mailed again'(world) {
    const { id } = await invite(world);
    const end = () => resendInvitation(world.app, world.test.operator, id);
    return { end, arrive: [/^Invitation to /] };
  },
  async 'an invitation of a deleted member'(world) {
    const { id } = await invite(world);
    return { end: () => deleteMember(world.app, world.test.operator, id), arrive: [] };
  },
  async 'a link to sign in of a deleted member'({ app, test, ask }) {
    await ask(ada);
    const { items } = await listMembers(app, test.operator, { page: 1, limit: 10 });
    const end = () => deleteMember(app, test.operator, items[0]?.id ?? '');
    return { end, arrive: [] };
  },
  async 'a new address that changed once more'({ app, personId }) {
    const wish = (email: string) => askForAddress(app, { ...visitor, personId, email });
    await wish('first@b.example');
    const arrive = [/is to change$/, /^Your new address/];
    return { end: () => wish('second@b.example'), arrive };
  },
  async 'a proof that was mailed again'({ app, test }) {
    const { id } = await createSender(app, test.caller, { email: 'eve@c.example' });
    return {
      end: () => resendProof(app, test.caller, id),
      arrive: [/^Please confirm that you send/],
    };
  },
  async 'a proof of a deleted sender'({ app, test }) {
    const { id } = await createSender(app, test.caller, { email: 'eve@c.example' });
    return { end: () => deleteSender(app, test.caller, id), arrive: [] };
  },
};

describe.each(stores)('mail with an ended link, on %s', (store) => {
  let world: WithAda;
  beforeEach(async () => {
    const empty = await peopleWorld(store);
    world = { ...empty, personId: await empty.join(ada) };
  });
  afterEach(() => world.close());

  it.each(Object.keys(ends))('%s does not leave', async (name) => {
    const { app, sink, test } = world;
    const off = sink.on({ verb: 'RCPT' }, '451 4.7.1 greylisted');
    const asked = await ends[name]?.(world);
    await world.pipeline().idle();
    const { rows: waiting } = await sql<{ id: string }>`
      select id from deliveries where status = 'processing'`.execute(app.store.db);
    expect(waiting.length).toBeGreaterThan(0);
    await asked?.end();
    off();
    for (let passed = 0; passed < 40; passed += 1) {
      await test.clock.advance(minute);
      await world.pipeline().idle();
    }
    const arrived = await world.arrived();
    expect(arrived.filter(({ text }) => text.includes('of-this-mail'))).toEqual([]);
    expect(arrived.map(({ subject }) => subject).sort()).toEqual(
      (asked?.arrive ?? []).map((subject) => expect.stringMatching(subject)),
    );
  });
});
