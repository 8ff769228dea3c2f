import { contactRoutes } from '../../src/people/contacts/routes.ts';
import { updateCommand } from '../base/verbs.ts';
import { args, card } from './show.ts';

export default updateCommand({
  examples: [
    [
      'Remove two tags',
      'svc contacts untag contact_06dq2k0qz8h3v5m1r9t4w7xy --tag customer --tag vip',
    ],
  ],
  args,
  route: contactRoutes.untag,
  card,
});
