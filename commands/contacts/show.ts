import { contactRoutes } from '../../src/people/contacts/routes.ts';
import { idArg, showCommand } from '../base/verbs.ts';

export const args = idArg('Id of the contact (contact_…)');

export const card = [
  ...['id', 'name', 'identities', 'status', 'statusReason', 'externalId', 'tags'],
  ...['createdAt', 'updatedAt'],
];

export default showCommand({
  examples: [
    ['Show all fields of a contact', 'svc contacts show contact_06dq2k0qz8h3v5m1r9t4w7xy'],
  ],
  args,
  route: contactRoutes.get,
  card,
});
