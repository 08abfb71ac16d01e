import { isIP } from 'node:net';
import { PRESETS } from '@eloquentpoll/contracts';
import { type Reader, share } from '@eloquentpoll/ops/settings';
import type { AbortedShares } from './list-prices.ts';
import { type Policies, readPolicies } from './rate-limit-policies.ts';

// Readers for settings that only the gateway has.

export const network: Reader<string> = {
  form: 'a network such as 10.0.0.0/8',
  shown: 'text',
  read: (value) => {
    const [address = '', bits, rest] = value.split('/');
    const widest = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
    const fits = rest === undefined && bits !== undefined && /^\d{1,3}$/.test(bits) && Number(bits) <= widest;
    return fits && Number(bits) > 0 ? value : undefined;
  },
};

export const rateLimits: Reader<Policies> = {
  form: 'operations with calls per seconds, such as poll=100/60,free_poll=10/3600+60/86400',
  shown: 'text',
  read: readPolicies,
};

/** In the form of the Origin header, because they are compared with it: no path, no default port. */
export const origins: Reader<readonly string[]> = {
  form: 'origins such as https://app.example, separated by commas, or *',
  shown: 'text',
  read: (value) => {
    const parts = value.split(',').map((part) => part.trim());
    const isGood = parts.every((part) => URL.canParse(part) && new URL(part).origin === part);
    return value.trim() === '*' || isGood ? parts : undefined;
  },
};

/** Content may be indexed by search engines and read by assistants, but not used for training. */
export const CONTENT_SIGNAL = 'search=yes, ai-input=yes, ai-train=no';
const SIGNALS = ['search', 'ai-input', 'ai-train'];

export const contentSignal: Reader<string> = {
  form: `yes or no for some of ${SIGNALS.join(', ')}, such as ${CONTENT_SIGNAL}`,
  shown: 'text',
  read: (value) => {
    const parts = value.split(',').map((part) => /^\s*([a-z-]+)\s*=\s*(yes|no)\s*$/.exec(part) ?? []);
    const names = parts.map(([, name = '']) => name);
    const isGood = new Set(names).size === names.length && names.every((name) => SIGNALS.includes(name));
    return isGood ? parts.map(([, name, answer]) => `${name}=${answer}`).join(', ') : undefined;
  },
};

/** In lower case, with or without a 0x prefix, not all zeros. */
export const hex = (bytes: number, form: string): Reader<`0x${string}`> => ({
  form,
  shown: 'text',
  read: (value) => {
    const digits = value.replace(/^0x/, '').toLowerCase();
    return new RegExp(`^[0-9a-f]{${bytes * 2}}$`).test(digits) && !/^0+$/.test(digits) ? `0x${digits}` : undefined;
  },
});

export const shareBelow = (most: number): Reader<number> => ({
  form: `a share from 0 to ${most}`,
  shown: 'text',
  read: (value) => {
    const read = share.read(value);
    return read !== undefined && read <= most ? read : undefined;
  },
});

/** One share per preset, and one for custom panels. */
export const abortedShares: Reader<AbortedShares> = {
  form: 'a share from 0 to 0.9 for each preset, and for custom unless it equals broad, such as broad=0.22,custom=0.12,fast=0.27,strong=0.08',
  shown: 'text',
  read: (value) => {
    const pairs = value.split(',').map((pair) => pair.trim().split('='));
    const names = pairs.some(([name]) => name === 'custom') ? [...PRESETS, 'custom'] : PRESETS;
    const shares = names.map((preset) => {
      const [, ...given] = pairs.find(([name]) => name === preset) ?? [];
      return [preset, given.length === 1 ? shareBelow(0.9).read(given[0]!) : undefined] as const;
    });
    const isGood = pairs.length === names.length && shares.every(([, read]) => read !== undefined);
    return isGood ? (Object.fromEntries(shares) as AbortedShares) : undefined;
  },
};

/** 32 bytes, as 64 hexadecimal digits or in base64url. */
export const bytes32: Reader<Buffer> = {
  form: '32 bytes: 64 hexadecimal digits, or 43 characters of base64url',
  shown: 'text',
  read: (value) => {
    if (/^[0-9a-f]{64}$/i.test(value)) return Buffer.from(value, 'hex');
    return /^[\w-]{43}$/.test(value) ? Buffer.from(value, 'base64url') : undefined;
  },
};
