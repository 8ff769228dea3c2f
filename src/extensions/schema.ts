// Nouns of extensions.
import { noun } from '../core/api/noun.ts';

export const extensionNoun = noun('extension', 'ext');
export const versionNoun = noun('extension-version', 'exv');
export const installationNoun = noun('extension-installation', 'exti');
