// The deletion of a contact over HTTP: it reaches into messages.
import { area } from '../api/area.ts';
import { deleted } from '../api/resource-schema.ts';
import { contactPath } from '../contacts/schema.ts';
import { deleteContact } from './forget-contact.ts';

const at = area('contacts');

export const forgetRoutes = {
  delete: at.delete('/v1/contacts/{id}', {
    name: 'deleteContact',
    summary: 'Delete a contact for good',
    description:
      'It is taken out of the recipients of messages too, whose addresses stay. Its blocks stay.',
    params: contactPath,
    output: deleted,
    run: (app, { caller, params: { id } }) => deleteContact(app, caller, id),
  }),
};
