// The change of a person's address, end to end: the links to both addresses, and the way back.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findPerson, findPersonByEmail } from '../../../../src/access/members/queries.ts';
import { useMailedLink } from '../../../../src/access/sessions/mailed-links.ts';
import { askForAddress } from '../../../../src/outbound/sending/people/address.ts';
import {
  ConflictError,
  RateLimitedError,
  ValidationError,
} from '../../../../src/platform/errors.ts';
import { stores } from '../../../support/command.ts';
import { type Arrived, type PeopleWorld, peopleWorld, visitor } from './people-world.ts';

const ada = 'ada@gmail.example';
const next = 'ada@mail.example';
const day = 86_400_000;

describe.each(stores)('a change of address, on %s', (store) => {
  let world: PeopleWorld;
  let personId: string;
  beforeEach(async () => {
    world = await peopleWorld(store);
    personId = await world.join(ada);
  });
  afterEach(() => world.close());

  const wish = (email = next) => askForAddress(world.app, { ...visitor, personId, email });
  const press = (mail: Arrived | undefined) => useMailedLink(world.app, mail?.token ?? '');
  const now = async () => (await findPerson(world.app.store.db, personId))?.email;
  /** Asks, and returns the mails to the new and to the old address. */
  async function mails(email = next): Promise<(Arrived | undefined)[]> {
    await wish(email);
    const arrived = await world.arrived();
    return [email, ada].map((address) => arrived.find(({ to }) => to === address));
  }

  it('counts once the button behind the new address is pressed', async () => {
    const [toNew, toOld] = await mails();
    expect(await now()).toBe(ada);
    expect(await press(toNew)).toMatchObject({ purpose: 'address', email: next });
    expect(await now()).toBe(next);
    expect(toOld?.text).toContain(`${visitor.browser}, network 203.0.113.0/24`);
    await expect(wish('third@mail.example')).rejects.toThrow(ConflictError);
    await world.ask(ada);
    expect(await world.arrived()).toEqual([]);
  });

  it('is stopped by the button behind the old address', async () => {
    const [toNew, toOld] = await mails();
    expect(await press(toOld)).toMatchObject({ purpose: 'take-back' });
    expect(await press(toNew)).toBeNull();
    expect(await now()).toBe(ada);
  });

  it.each([
    [7 * day - 60_000, ada],
    [7 * day, next],
  ])('is taken back within 7 days: after %i ms the address is %s', async (passed, expected) => {
    const [toNew, toOld] = await mails();
    await press(toNew);
    await world.test.clock.advance(passed);
    await press(toOld);
    expect(await now()).toBe(expected);
  });

  it('to an address that somebody has is answered alike, and changes nothing', async () => {
    await world.join(next);
    const [toNew, toOld] = await mails();
    expect([toNew?.to, toOld?.to]).toEqual([next, ada]);
    expect(await press(toNew)).toBeNull();
    expect(await now()).toBe(ada);
    expect((await findPersonByEmail(world.app.store.db, next))?.id).not.toBe(personId);
  });

  it('begun again ends the earlier links', async () => {
    const [first, back] = await mails();
    const [second] = await mails('other@mail.example');
    expect(await press(first)).toBeNull();
    expect(await press(back)).toBeNull();
    expect(await press(second)).not.toBeNull();
    expect(await now()).toBe('other@mail.example');
  });

  it('mails five times a day to an address', async () => {
    for (let asked = 0; asked < 5; asked++) await wish();
    await expect(wish()).rejects.toThrow(RateLimitedError);
  });

  it.each(['nonsense', `ада@mail.example`, ada, 'ada@sandbox.test', 'a\r\nBcc: b@mail.example'])(
    'to %j is refused',
    async (email) => {
      await expect(wish(email)).rejects.toThrow(ValidationError);
    },
  );
});
