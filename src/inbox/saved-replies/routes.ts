// The operations on saved replies: answers that people write once and choose again. A mail has a
// copy of the text, so a change to a saved reply changes no mail.
import { area } from '../../core/api/area.ts';
import { nounRoutes } from '../../core/api/noun-routes.ts';
import { plainNoun } from '../../history/events/plain-noun.ts';
import { savedReplies } from './queries.ts';
import {
  createSavedReplyInput,
  listSavedRepliesQuery,
  savedReplyFields,
  savedReplyNoun,
  savedReplyOutput,
  updateSavedReplyInput,
} from './schema.ts';

const at = area('saved-replies', {
  about: 'Answers that people write once and choose again',
  resource: 'mailboxes',
  noun: savedReplyNoun,
});

/** Functions of the five routes. The audit gets the lengths of the texts, never the words. */
const { create, list, get, update, ...rest } = plainNoun({
  noun: savedReplyNoun,
  rows: savedReplies,
  fields: {
    ...savedReplyFields,
    settings: ({ name, text, html }) => ({
      name,
      textLength: text.length,
      htmlLength: html === null ? null : html.length,
    }),
  },
});

export const savedReplyRoutes = nounRoutes(at, '/v1/saved-replies', {
  one: 'a saved reply',
  many: 'saved replies',
  output: savedReplyOutput,
  list: { name: 'listSavedReplies', query: listSavedRepliesQuery, run: list },
  create: { body: createSavedReplyInput, run: create },
  get: { run: get },
  update: { body: updateSavedReplyInput, run: update },
  delete: { run: rest.delete },
});
