/** How a definition is named; what each means is in `scripts/outline-thread.cjs`. */
type Naming =
  | "all"
  | "assigned"
  | "constant"
  | "constants"
  | "declarator"
  | "exported"
  | "field"
  | "first"
  | "function"
  | "functionField"
  | "identifier"
  | "implementation"
  | "left"
  | "readonly"
  | "receiver"
  | "singleton"
  | "typedef"
  | "withBody"
  | "withValue";

interface Definition {
  readonly name: Naming;
  /** The field with further definitions, for those that hold some. */
  readonly body?: "body";
  /** Only outside everything else. */
  readonly atTop?: true;
}

interface List {
  readonly items: readonly string[];
  /** The child that holds the items, where they are not its own. */
  readonly inside?: string;
  readonly when?: "constField" | "staticFinal";
  readonly atTop?: true;
}

/** Which nodes of a grammar's trees become sections. Data, so that it can be handed to another thread. */
export interface LanguageRules {
  /** What belongs to the definition that follows it directly. */
  readonly leading: readonly string[];
  /** Nodes around one definition, whose lines they give it; and, if not all children may be one, which. */
  readonly wraps: Readonly<Record<string, readonly string[] | null>>;
  /** Nodes that hold definitions and are none; whether constants in them count as at the top. */
  readonly frames: Readonly<Record<string, boolean>>;
  /** Declarations of one thing or several. */
  readonly lists: Readonly<Record<string, List>>;
  readonly definitions: Readonly<Record<string, Definition>>;
}

const NAMED = { name: "field" } as const;
const HOLDER = { name: "field", body: "body" } as const;

const JAVASCRIPT: LanguageRules = {
  leading: ["comment", "decorator"],
  wraps: {
    export_statement: null,
    ambient_declaration: null,
    expression_statement: ["internal_module", "assignment_expression"],
  },
  frames: {},
  lists: {
    lexical_declaration: { items: ["variable_declarator"], atTop: true },
    variable_declaration: { items: ["variable_declarator"], atTop: true },
  },
  definitions: {
    function_declaration: NAMED,
    generator_function_declaration: NAMED,
    function_signature: NAMED,
    class_declaration: HOLDER,
    abstract_class_declaration: HOLDER,
    interface_declaration: NAMED,
    type_alias_declaration: NAMED,
    enum_declaration: NAMED,
    module: HOLDER,
    internal_module: HOLDER,
    function_expression: { name: "exported" },
    arrow_function: { name: "exported" },
    class: { name: "exported", body: "body" },
    assignment_expression: { name: "assigned", atTop: true },
    variable_declarator: { name: "declarator" },
    method_definition: NAMED,
    method_signature: NAMED,
    abstract_method_signature: NAMED,
    public_field_definition: { name: "functionField" },
    field_definition: { name: "functionField" },
  },
};

const PYTHON: LanguageRules = {
  leading: ["comment"],
  wraps: { decorated_definition: null, expression_statement: ["assignment"] },
  frames: {
    if_statement: false,
    elif_clause: false,
    else_clause: false,
    try_statement: false,
    except_clause: false,
    finally_clause: false,
    with_statement: false,
    block: false,
  },
  lists: {},
  definitions: {
    function_definition: NAMED,
    class_definition: HOLDER,
    type_alias_statement: { name: "left" },
    assignment: { name: "identifier", atTop: true },
  },
};

const GO: LanguageRules = {
  leading: ["comment"],
  wraps: {},
  frames: {},
  lists: {
    type_declaration: { items: ["type_spec", "type_alias"] },
    const_declaration: { items: ["const_spec"] },
    var_declaration: { items: ["var_spec"], inside: "var_spec_list" },
  },
  definitions: {
    function_declaration: NAMED,
    method_declaration: { name: "receiver" },
    type_spec: NAMED,
    type_alias: NAMED,
    const_spec: { name: "all" },
    var_spec: { name: "all" },
  },
};

const RUST: LanguageRules = {
  leading: ["line_comment", "block_comment", "attribute_item"],
  wraps: {},
  frames: { foreign_mod_item: true },
  lists: {},
  definitions: {
    function_item: NAMED,
    function_signature_item: NAMED,
    struct_item: NAMED,
    enum_item: NAMED,
    union_item: NAMED,
    trait_item: HOLDER,
    impl_item: { name: "implementation", body: "body" },
    mod_item: HOLDER,
    type_item: NAMED,
    const_item: NAMED,
    static_item: NAMED,
    macro_definition: NAMED,
  },
};

const JAVA: LanguageRules = {
  leading: ["line_comment", "block_comment"],
  wraps: {},
  frames: { enum_body_declarations: false },
  lists: {
    field_declaration: { items: ["variable_declarator"], when: "staticFinal" },
    constant_declaration: { items: ["variable_declarator"] },
  },
  definitions: {
    class_declaration: HOLDER,
    interface_declaration: HOLDER,
    enum_declaration: HOLDER,
    record_declaration: HOLDER,
    annotation_type_declaration: HOLDER,
    method_declaration: NAMED,
    constructor_declaration: NAMED,
    compact_constructor_declaration: NAMED,
    variable_declarator: NAMED,
  },
};

const C_SHARP: LanguageRules = {
  leading: ["comment"],
  wraps: { global_statement: ["local_function_statement"] },
  frames: {
    namespace_declaration: true,
    file_scoped_namespace_declaration: true,
    preproc_if: true,
    preproc_elif: true,
    preproc_else: true,
  },
  lists: {
    field_declaration: { items: ["variable_declarator"], inside: "variable_declaration", when: "constField" },
  },
  definitions: {
    class_declaration: HOLDER,
    struct_declaration: HOLDER,
    record_declaration: HOLDER,
    interface_declaration: HOLDER,
    enum_declaration: NAMED,
    delegate_declaration: NAMED,
    method_declaration: NAMED,
    constructor_declaration: NAMED,
    local_function_statement: NAMED,
    variable_declarator: NAMED,
  },
};

const RUBY: LanguageRules = {
  leading: ["comment"],
  // `private def name` is a call with a method as its argument.
  wraps: { call: ["argument_list"], argument_list: ["method", "singleton_method"] },
  frames: { singleton_class: false },
  lists: {},
  definitions: {
    class: HOLDER,
    module: HOLDER,
    method: NAMED,
    singleton_method: { name: "singleton" },
    assignment: { name: "constant" },
  },
};

const PHP: LanguageRules = {
  leading: ["comment"],
  wraps: {},
  frames: { namespace_definition: true, if_statement: false, compound_statement: false },
  lists: { const_declaration: { items: ["const_element"] } },
  definitions: {
    function_definition: NAMED,
    class_declaration: HOLDER,
    interface_declaration: HOLDER,
    trait_declaration: HOLDER,
    enum_declaration: HOLDER,
    method_declaration: NAMED,
    const_element: { name: "first" },
  },
};

const CPP: LanguageRules = {
  leading: ["comment"],
  wraps: { template_declaration: null },
  frames: {
    namespace_definition: true,
    linkage_specification: true,
    preproc_ifdef: true,
    preproc_if: true,
    preproc_elif: true,
    preproc_elifdef: true,
    preproc_else: true,
  },
  lists: {},
  definitions: {
    function_definition: { name: "function" },
    class_specifier: { name: "withBody", body: "body" },
    struct_specifier: { name: "withBody", body: "body" },
    union_specifier: { name: "withBody", body: "body" },
    enum_specifier: { name: "withBody" },
    type_definition: { name: "typedef" },
    alias_declaration: NAMED,
    concept_definition: NAMED,
    preproc_def: { name: "withValue" },
    preproc_function_def: NAMED,
    declaration: { name: "constants", atTop: true },
  },
};

const SHELL: LanguageRules = {
  leading: ["comment"],
  wraps: {},
  frames: {},
  lists: {},
  definitions: { function_definition: NAMED, declaration_command: { name: "readonly" } },
};

/** The rules of each language; TypeScript with and without JSX is one language in two grammars. */
export const LANGUAGE_RULES = {
  "c-sharp": C_SHARP,
  cpp: CPP,
  go: GO,
  java: JAVA,
  javascript: JAVASCRIPT,
  php: PHP,
  python: PYTHON,
  ruby: RUBY,
  rust: RUST,
  shell: SHELL,
  tsx: JAVASCRIPT,
  typescript: JAVASCRIPT,
} as const;
