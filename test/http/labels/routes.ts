// The HTTP operations on labels.
import { area } from '../../../src/core/api/area.ts';
import { nounRoutes } from '../../../src/core/api/noun-routes.ts';
import { labels } from './labels.ts';
import {
  createLabelInput,
  labelNoun,
  labelOutput,
  listLabelsQuery,
  updateLabelInput,
} from './schema.ts';

const at = area('labels', {
  about: 'Words on contacts',
  resource: 'contacts',
  noun: labelNoun,
});

export const labelRoutes = nounRoutes(at, '/v1/labels', {
  one: 'a label',
  many: 'labels',
  output: labelOutput,
  list: { query: listLabelsQuery, run: labels.list },
  create: { body: createLabelInput, run: labels.create },
  get: { run: labels.get },
  update: { body: updateLabelInput, run: labels.update },
  delete: { summary: 'Delete a label; its contacts stay', run: labels.delete },
});
