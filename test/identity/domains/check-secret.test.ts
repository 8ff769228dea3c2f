import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openSecrets } from '../../../src/core/root-keys/secrets.ts';
import { checkSecret } from '../../../src/identity/domains/signing-keys.ts';
import { emptyTestApp, testApp } from '../../support/test-app.ts';

describe('the secret of an installation', () => {
  it('opens the keys that it encrypted, and fits any store without keys', async () => {
    for (const service of [await testApp(), await emptyTestApp()]) {
      await expect(checkSecret(service.app)).resolves.toBeUndefined();
      await service.close();
    }
  });

  it('from another machine stops the start with instructions', async () => {
    const service = await testApp();
    const elsewhere = mkdtempSync(join(tmpdir(), 'svc-secret-'));
    const secrets = openSecrets(elsewhere, service.app.random);
    await expect(checkSecret({ ...service.app, secrets })).rejects.toThrow(
      /secret\.key is not the key of this store: copy that file/,
    );
    await service.close();
    rmSync(elsewhere, { recursive: true });
  });
});
