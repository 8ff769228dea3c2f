import { Flags } from '@oclif/core';
import { keyRoutes } from '../../src/access/keys/routes.ts';
import { memberRoutes } from '../../src/access/members/routes.ts';
import { deleteCommand } from '../base/verbs.ts';
import { args } from './show.ts';

export default deleteCommand({
  summary: 'Remove a member from the organization',
  description:
    'The sessions of the person here end. Keys that the member made stay, unless you revoke them.',
  examples: [
    ['Remove a member in a script', 'svc members delete mem_06dq2k0qz8h3v5m1r9t4w7xy --yes'],
    [
      'Remove a member, and the keys that the member made',
      'svc members delete mem_06dq2k0qz8h3v5m1r9t4w7xy --revoke-keys',
    ],
  ],
  args,
  flags: { 'revoke-keys': Flags.boolean({ description: 'Revoke the keys that the member made' }) },
  shows: memberRoutes.get,
  route: memberRoutes.delete,
  question: ({ email }) => `Remove ${email} from the organization?`,
  async besides(session, { id }, flags) {
    const { items } = await session.ask(keyRoutes.list, { query: { createdBy: id, limit: 100 } });
    const active = items.filter(({ isActive }) => isActive);
    if (active.length === 0) return null;
    const named = active.map(({ id: key, name }) => (name ? `${name} (${key})` : key)).join(', ');
    if (flags['revoke-keys'] !== true) {
      const line = `Keys of the member continue: ${named}.`;
      return { question: `${line} --revoke-keys ends them.`, after: async () => line };
    }
    return {
      question: `Keys of the member end: ${named}.`,
      async after() {
        for (const key of active) await session.ask(keyRoutes.revoke, { params: { id: key.id } });
        return `Revoked keys: ${named}.`;
      },
    };
  },
});
