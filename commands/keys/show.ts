import { keyRoutes } from '../../src/access/keys/routes.ts';
import { idArg, showCommand } from '../base/verbs.ts';

export const args = idArg('Id of the key (key_…)');

export const card = [
  ...[
    'id',
    'name',
    'description',
    'start',
    'roleName',
    'permissions',
    'constraints',
    'sendMode',
    'owner',
  ],
  ...['isActive', 'createdAt', 'expiresAt', 'lastUsedAt'],
];

/** Card and note for a new key. */
export const shownOnce = {
  card: ['key', ...card],
  note: 'The key is never shown again: store it now.',
};

export default showCommand({
  summary: 'Show an API key without its plaintext',
  examples: [
    ['Show the permissions and the end of a key', 'svc keys show key_06dq2k0qz8h3v5m1r9t4w7xy'],
  ],
  args,
  route: keyRoutes.get,
  card,
});
