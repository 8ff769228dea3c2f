// The HTTP operations on API keys (specification 4.3; contract 3).
import { type Route, route } from '../api/route.ts';
import { createKey, getKey, listKeys, revokeKey, rotateKey, updateKey } from './keys.ts';
import {
  createKeyInput,
  keyOutput,
  keyPage,
  keyPath,
  keyRevoked,
  listKeysQuery,
  updateKeyInput,
} from './schema.ts';

const area = 'API keys';

export const keyRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/api-keys',
    name: 'listApiKeys',
    summary: 'List API keys, newest first',
    area,
    permission: 'keys:read',
    query: listKeysQuery,
    status: 200,
    output: keyPage,
    run: (app, { caller, query }) => listKeys(app, caller, query),
  }),
  route({
    method: 'POST',
    path: '/v1/api-keys',
    name: 'createApiKey',
    summary: 'Create an API key',
    description:
      'The plaintext is in `key`, this once. A key cannot make one that can do more than itself.',
    area,
    permission: 'keys:write',
    body: createKeyInput,
    status: 201,
    output: keyOutput,
    run: (app, { caller, body }) => createKey(app, caller, body),
  }),
  route({
    method: 'GET',
    path: '/v1/api-keys/{id}',
    name: 'getApiKey',
    summary: 'Show an API key',
    area,
    permission: 'keys:read',
    params: keyPath,
    status: 200,
    output: keyOutput,
    run: (app, { caller, params }) => getKey(app, caller, params.id),
  }),
  route({
    method: 'PATCH',
    path: '/v1/api-keys/{id}',
    name: 'updateApiKey',
    summary: 'Change the name, description or constraints of an API key',
    description:
      'Constraints are changed only by a key that could make this one, as it was and as it will be, and hold in every daemon within a second.',
    area,
    permission: 'keys:write',
    params: keyPath,
    body: updateKeyInput,
    status: 200,
    output: keyOutput,
    run: (app, { caller, params, body }) => updateKey(app, caller, params.id, body),
  }),
  route({
    method: 'DELETE',
    path: '/v1/api-keys/{id}',
    name: 'revokeApiKey',
    summary: 'Revoke an API key',
    description: 'For good, and in every daemon within a second. Revoking again is no error.',
    area,
    permission: 'keys:delete',
    params: keyPath,
    status: 200,
    output: keyRevoked,
    run: (app, { caller, params }) => revokeKey(app, caller, params.id),
  }),
  route({
    method: 'POST',
    path: '/v1/api-keys/{id}/rotate',
    name: 'rotateApiKey',
    summary: 'Replace an API key',
    description:
      'Makes a new key with the same owner, name, permissions and constraints, whose plaintext is in `key`; the old key is deactivated. A revoked or expired key is refused.',
    area,
    permission: 'keys:write',
    params: keyPath,
    status: 200,
    output: keyOutput,
    errors: [409],
    run: (app, { caller, params }) => rotateKey(app, caller, params.id),
  }),
];
