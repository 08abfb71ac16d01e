import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Abi, Hex } from 'viem';

/** The token, compiled by the Solidity compiler from npm. */
export async function compileToken(): Promise<{ abi: Abi; bytecode: Hex }> {
  const solc: { compile(input: string): string } = createRequire(import.meta.url)('solc');
  const source = await readFile(new URL('token.sol', import.meta.url), 'utf8');
  const output = JSON.parse(
    solc.compile(
      JSON.stringify({
        language: 'Solidity',
        sources: { 'token.sol': { content: source } },
        settings: {
          evmVersion: 'paris',
          optimizer: { enabled: true },
          outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
        },
      }),
    ),
  );
  const token = output.contracts?.['token.sol']?.Token;
  if (!token) throw new Error(JSON.stringify(output.errors));
  return { abi: token.abi, bytecode: `0x${token.evm.bytecode.object}` };
}
