import { KEY_ACTIONS } from './command-line.ts';
import { UsageError } from './usage-error.ts';
import { none, oneOf, only } from './words.ts';

export type KeysCommand =
  | { name: 'keys'; action: 'list' }
  | { name: 'keys'; action: 'create'; label: string | undefined }
  | { name: 'keys'; action: 'revoke'; id: string };

export function readKeys([action = 'list', ...words]: readonly string[]): KeysCommand {
  switch (oneOf('action of keys', action, KEY_ACTIONS)) {
    case 'list':
      none(words, 'keys list takes no words.');
      return { name: 'keys', action: 'list' };
    case 'create':
      if (words.length > 1) throw new UsageError('keys create takes one label: keys create "build server".');
      return { name: 'keys', action: 'create', label: words[0] };
    case 'revoke':
      return { name: 'keys', action: 'revoke', id: only(words, 'keys revoke takes one id or prefix: see keys list') };
  }
}
