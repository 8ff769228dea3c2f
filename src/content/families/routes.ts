// The HTTP operations on families of templates (specification 4.6).
import { area } from '../../core/api/area.ts';
import { pageOf } from '../../core/api/pagination.ts';
import { deleted } from '../../core/api/resource-schema.ts';
import { ConflictError } from '../../platform/errors.ts';
import { familyNoun } from '../templates/schema.ts';
import {
  addMember,
  createFamily,
  deleteFamily,
  getFamily,
  listFamilies,
  removeMember,
  updateFamily,
} from './families.ts';
import {
  createFamilyInput,
  familyOutput,
  familyPath,
  listFamiliesQuery,
  memberPath,
  updateFamilyInput,
} from './schema.ts';

const at = area('template-families', {
  about: 'Templates that belong together',
  resource: 'templates',
  noun: familyNoun,
});
const path = '/v1/templates/families';
const one = `${path}/{familyId}` as const;
const member = `${one}/members/{templateId}` as const;

export const familyRoutes = {
  list: at.get(path, {
    name: 'listTemplateFamilies',
    summary: 'List template families, newest first',
    query: listFamiliesQuery,
    output: pageOf(familyOutput),
    run: (app, { caller, query }) => listFamilies(app, caller, query),
  }),
  create: at.post(path, {
    name: 'createTemplateFamily',
    summary: 'Create a template family',
    body: createFamilyInput,
    output: familyOutput,
    run: (app, { caller, body }) => createFamily(app, caller, body),
  }),
  get: at.get(one, {
    name: 'getTemplateFamily',
    summary: 'Show a template family with its members',
    params: familyPath,
    output: familyOutput,
    run: (app, { caller, params: { familyId } }) => getFamily(app, caller, familyId),
  }),
  update: at.patch(one, {
    name: 'updateTemplateFamily',
    summary: 'Change a template family',
    params: familyPath,
    body: updateFamilyInput,
    output: familyOutput,
    run: (app, { caller, params: { familyId }, body }) => updateFamily(app, caller, familyId, body),
  }),
  delete: at.delete(one, {
    name: 'deleteTemplateFamily',
    summary: 'Delete a template family; its members stay templates',
    params: familyPath,
    output: deleted,
    run: (app, { caller, params: { familyId } }) => deleteFamily(app, caller, familyId),
  }),
  add: at.post(member, {
    name: 'addTemplateFamilyMember',
    summary: 'Add a template to a family',
    description:
      'A template is in one family at most: one of another family gets a 409 that names it.',
    params: memberPath,
    output: familyOutput,
    throws: [ConflictError],
    run: (app, { caller, params }) => addMember(app, caller, params),
  }),
  remove: at.delete(member, {
    name: 'removeTemplateFamilyMember',
    summary: 'Remove a template from a family; it stays a template',
    permission: 'templates:write',
    params: memberPath,
    output: familyOutput,
    run: (app, { caller, params }) => removeMember(app, caller, params),
  }),
};
