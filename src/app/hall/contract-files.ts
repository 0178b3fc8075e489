import { sortedByCodePoint } from "../../core/canonical/index.ts";
import {
  type ContractObject,
  exportSchema,
  formatSchemaDocument,
  type JsonContract,
} from "../../core/contracts/index.ts";
import type { Operation } from "../../core/operation.ts";

/** Files below `contracts/`: path to text. */
export type ContractFiles = ReadonlyMap<string, string>;

/** Where the schema and the examples of an object are below `contracts/`, without a suffix. */
export function toContractPath(contract: ContractObject): string {
  return contract.room === "hall" ? contract.name : `${contract.room}/${contract.name}`;
}

/** The published schema of one object, with every code its check can raise: some rules no schema can say. */
export function formatContractSchema(contract: JsonContract): string {
  const { room, name, title, summary, schema, codes } = contract;
  const says = sortedByCodePoint(codes.keys()).map((code) => [code, codes.get(code)] as const);
  const body = { ...exportSchema(schema).schema, "x-codes": Object.fromEntries(says) };
  return formatSchemaDocument({ id: `urn:verbatim:contract:${room}:${name}`, title, description: summary }, body);
}

/** What is published about an operation. */
type PublishedOperation = Pick<Operation, "name" | "summary" | "effect" | "input" | "output">;

/** The schemas of operations: input and output, each a schema of its own so that their references stay inside. */
export function formatOperationSchemas(operations: readonly PublishedOperation[]): ContractFiles {
  return new Map(
    operations.map(({ name, summary, effect, input, output }) => {
      const id = `urn:verbatim:operation:${name}`;
      const body = {
        "x-effect": effect,
        $defs: {
          input: { $id: `${id}:input`, ...exportSchema(input, "input").schema },
          output: { $id: `${id}:output`, ...exportSchema(output, "output").schema },
        },
      };
      return [`operations/${name}.schema.json`, formatSchemaDocument({ id, title: name, description: summary }, body)];
    }),
  );
}

/** Every generated file. The same contracts and operations give the same bytes. */
export function formatContractFiles(
  contracts: readonly ContractObject[],
  operations: readonly PublishedOperation[],
): ContractFiles {
  const schemas = contracts
    .filter((contract) => contract.media !== "text")
    .map((contract) => [`${toContractPath(contract)}.schema.json`, formatContractSchema(contract)] as const);
  return new Map([...schemas, ...formatOperationSchemas(operations)]);
}
