// The HTTP operations on API keys (specification 4.3).
import { area } from '../../core/api/area.ts';
import { pageOf } from '../../core/api/pagination.ts';
import { deleted, idPath } from '../../core/api/resource-schema.ts';
import { ConflictError } from '../../platform/errors.ts';
import { createKey, getKey, listKeys, revokeKey, rotateKey, updateKey } from './keys.ts';
import {
  createKeyInput,
  keyOutput,
  listKeysQuery,
  rotateKeyInput,
  updateKeyInput,
} from './schema.ts';

const at = area('API keys', { about: 'Keys and their permissions', resource: 'keys' });
const path = '/v1/api-keys';
const params = idPath('key', 'an API key');

export const keyRoutes = {
  list: at.get(path, {
    name: 'listApiKeys',
    summary: 'List API keys, newest first',
    query: listKeysQuery,
    output: pageOf(keyOutput),
    run: (app, { caller, query }) => listKeys(app, caller, query),
  }),
  create: at.post(path, {
    name: 'createApiKey',
    summary: 'Create an API key',
    description:
      'The plaintext is in `key`, only this once. A key cannot create a key with more ' +
      'rights than its own.',
    body: createKeyInput,
    output: keyOutput,
    shownOnce: ['key'],
    run: (app, { caller, body }) => createKey(app, caller, body),
  }),
  get: at.get(`${path}/{id}`, {
    name: 'getApiKey',
    summary: 'Show an API key',
    params,
    output: keyOutput,
    run: (app, { caller, params: { id } }) => getKey(app, caller, id),
  }),
  update: at.patch(`${path}/{id}`, {
    name: 'updateApiKey',
    summary: 'Change the name, description or constraints of an API key',
    description:
      'A key can change only the constraints of a key that it could create, with the old ' +
      'and the new constraints. They hold in every daemon within a second.',
    params,
    body: updateKeyInput,
    output: keyOutput,
    run: (app, { caller, params: { id }, body }) => updateKey(app, caller, id, body),
  }),
  revoke: at.delete(`${path}/{id}`, {
    name: 'revokeApiKey',
    summary: 'Revoke an API key',
    description: 'Every daemon refuses the key within a second. Revoking it again succeeds.',
    params,
    output: deleted,
    run: (app, { caller, params: { id } }) => revokeKey(app, caller, id),
  }),
  rotate: at.post(`${path}/{id}/rotate`, {
    name: 'rotateApiKey',
    summary: 'Replace an API key',
    description:
      'Creates a new key with the same owner, name, permissions and constraints; its ' +
      'plaintext is in `key`. The old key is deactivated; with `graceSeconds` it expires ' +
      'after that time. A revoked, expired or already replaced key is refused.',
    params,
    body: rotateKeyInput,
    bodyOptional: true,
    output: keyOutput,
    shownOnce: ['key'],
    throws: [ConflictError],
    run: (app, { caller, params: { id }, body }) => rotateKey(app, caller, id, body),
  }),
};
