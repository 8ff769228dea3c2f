// Many groups, and a contact that is made again, do not add up to a flood of mails to one address.
import { describe, expect, it } from 'vitest';
import { dayMs, optInWorld } from './opt-in-world.ts';

describe('one address', () => {
  const { api, group, contact, add, mails, turn } = optInWorld({ config: {} });

  it('gets at most ten mails to confirm a day, through whatever groups', async () => {
    let victim = await contact('ada@example.com');
    for (let made = 0; made < 12; made++) {
      if (made === 6) {
        await turn();
        await turn();
        await api.delete(`/v1/contacts/${victim}`);
        victim = await contact('ADA@example.com');
      }
      expect((await add(await group({ name: `News ${made}` }), victim)).status).toBe(200);
    }
    for (let turns = 0; turns < 5; turns++) await turn();
    expect(await mails()).toHaveLength(10);
    await turn(dayMs);
    await turn();
    expect(await mails()).toHaveLength(12);
  });
});
