// HTTP routes that delete contacts and conversations. They are in this folder because a deletion
// also changes messages.
import { area } from '../../../core/api/area.ts';
import { deleted } from '../../../core/api/resource-schema.ts';
import { contactNoun, contactPath } from '../../../people/contacts/schema.ts';
import { conversationNoun, conversationPath } from '../../../people/conversations/schema.ts';
import { deleteContact } from './forget-contact.ts';
import { deleteConversation } from './forget-conversation.ts';

const at = area('contacts', { noun: contactNoun });
const atConversations = area('conversations', { noun: conversationNoun });

export const forgetRoutes = {
  delete: at.delete('/v1/contacts/{id}', {
    name: 'deleteContact',
    summary: 'Delete a contact for good',
    description:
      'It is removed from the recipients of messages too, whose addresses stay. Its blocks ' +
      'stay.',
    params: contactPath,
    output: deleted,
    run: (app, { caller, params: { id } }) => deleteContact(app, caller, id),
  }),
  deleteConversation: atConversations.delete('/v1/conversations/{id}', {
    name: 'deleteConversation',
    summary: 'Delete a conversation for good; its messages stay',
    params: conversationPath,
    output: deleted,
    run: (app, { caller, params: { id } }) => deleteConversation(app, caller, id),
  }),
};
