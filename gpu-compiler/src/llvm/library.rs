//! LLVM's C API, from the shared library that the user's own rustc runs on.
//!
//! The library is opened when the compiler starts, so this crate builds without LLVM and always reads bitcode with the
//! version that wrote it. Each function below is looked up once; one that is missing is an error that names it.
//!
//! The functions are safe to call within this crate: a handle comes only from LLVM, the one context and its modules
//! live until the process ends, and what takes a handle away (`erase_*`, `delete_*`, `link_modules`) is marked unsafe.

use std::ffi::{CStr, c_char, c_void};
use std::path::Path;
use std::ptr::NonNull;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::error::Error;

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(transparent)]
        pub struct $name(NonNull<c_void>);
    )*};
}

handles! {
    /// The context that owns types and constants.
    Context;
    /// A module.
    Module;
    /// A function, global, instruction, argument or constant.
    Value;
    /// A basic block.
    Block;
    /// A type.
    Type;
    /// An instruction builder.
    Builder;
    /// A byte buffer.
    Buffer;
    /// An attribute of a function, parameter or call.
    Attribute;
    /// Metadata: debug locations, scopes, nodes.
    Metadata;
    /// A back end.
    Target;
    /// A back end with its processor and features chosen.
    TargetMachine;
    /// Options of a pass run.
    PassOptions;
    /// A use of a value.
    Use;
    /// A failed pass run's message.
    PassError;
}

/// A C boolean.
pub type Bool = i32;
/// A `usize` that LLVM writes.
pub type Length = usize;

macro_rules! api {
    ($($name:ident = $symbol:ident($($arg:ident: $type:ty),*) $(-> $result:ty)?;)* @unsafe $($uname:ident = $usymbol:ident($($uarg:ident: $utype:ty),*) $(-> $uresult:ty)?;)*) => {
        #[allow(non_snake_case)]
        struct Table {
            $($symbol: unsafe extern "C" fn($($type),*) $(-> $result)?,)*
            $($usymbol: unsafe extern "C" fn($($utype),*) $(-> $uresult)?,)*
            _library: libloading::Library,
        }

        impl Table {
            /// # Safety
            /// `library` is LLVM.
            unsafe fn load(library: libloading::Library, path: &Path) -> Result<Self, Error> {
                // SAFETY: the caller's promise; the types are those of LLVM's C headers.
                unsafe {
                    Ok(Table {
                        $($symbol: symbol(&library, path, stringify!($symbol))?,)*
                        $($usymbol: symbol(&library, path, stringify!($usymbol))?,)*
                        _library: library,
                    })
                }
            }
        }

        $(
            #[doc = concat!("`", stringify!($symbol), "`.")]
            #[allow(clippy::too_many_arguments)]
            pub fn $name($($arg: $type),*) $(-> $result)? {
                // SAFETY: handles are valid by the rule at the head of this file.
                unsafe { (table().$symbol)($($arg),*) }
            }
        )*
        $(
            #[doc = concat!("`", stringify!($usymbol), "`.")]
            ///
            /// # Safety
            /// No handle that the call invalidates, and no pointer out of scope, is used afterwards.
            #[allow(clippy::too_many_arguments)]
            #[allow(clippy::too_many_arguments)]
            pub unsafe fn $uname($($uarg: $utype),*) $(-> $uresult)? {
                // SAFETY: the caller's promise.
                unsafe { (table().$usymbol)($($uarg),*) }
            }
        )*
    };
}

api! {
    context_create = LLVMContextCreate() -> Context;
    module_context = LLVMGetModuleContext(module: Module) -> Context;
    create_builder = LLVMCreateBuilderInContext(context: Context) -> Builder;
    first_function = LLVMGetFirstFunction(module: Module) -> Option<Value>;
    next_function = LLVMGetNextFunction(function: Value) -> Option<Value>;
    first_global = LLVMGetFirstGlobal(module: Module) -> Option<Value>;
    next_global = LLVMGetNextGlobal(global: Value) -> Option<Value>;
    first_alias = LLVMGetFirstGlobalAlias(module: Module) -> Option<Value>;
    next_alias = LLVMGetNextGlobalAlias(alias: Value) -> Option<Value>;
    first_block = LLVMGetFirstBasicBlock(function: Value) -> Option<Block>;
    next_block = LLVMGetNextBasicBlock(block: Block) -> Option<Block>;
    first_instruction = LLVMGetFirstInstruction(block: Block) -> Option<Value>;
    next_instruction = LLVMGetNextInstruction(instruction: Value) -> Option<Value>;
    instruction_block = LLVMGetInstructionParent(instruction: Value) -> Block;
    block_function = LLVMGetBasicBlockParent(block: Block) -> Value;
    terminator = LLVMGetBasicBlockTerminator(block: Block) -> Option<Value>;
    successor_count = LLVMGetNumSuccessors(terminator: Value) -> u32;
    successor = LLVMGetSuccessor(terminator: Value, index: u32) -> Block;
    is_branch = LLVMIsABranchInst(value: Value) -> Option<Value>;
    is_conditional = LLVMIsConditional(branch: Value) -> Bool;
    condition = LLVMGetCondition(branch: Value) -> Value;
    set_condition = LLVMSetCondition(branch: Value, condition: Value);
    is_comparison = LLVMIsAICmpInst(value: Value) -> Option<Value>;
    comparison_predicate = LLVMGetICmpPredicate(comparison: Value) -> i32;
    is_instruction = LLVMIsAInstruction(value: Value) -> Option<Value>;
    is_disjoint = LLVMGetIsDisjoint(or: Value) -> Bool;
    incoming_count = LLVMCountIncoming(phi: Value) -> u32;
    incoming_value = LLVMGetIncomingValue(phi: Value, index: u32) -> Value;
    incoming_block = LLVMGetIncomingBlock(phi: Value, index: u32) -> Block;
    sign_extended = LLVMConstIntGetSExtValue(integer: Value) -> i64;
    call_enum_attribute = LLVMGetCallSiteEnumAttribute(call: Value, index: u32, kind: u32) -> Option<Attribute>;
    first_use = LLVMGetFirstUse(value: Value) -> Option<Use>;
    next_use = LLVMGetNextUse(a_use: Use) -> Option<Use>;
    user = LLVMGetUser(a_use: Use) -> Value;
    operand_count = LLVMGetNumOperands(value: Value) -> i32;
    is_argument = LLVMIsAArgument(value: Value) -> Option<Value>;
    parameter_parent = LLVMGetParamParent(parameter: Value) -> Value;
    call_convention = LLVMGetFunctionCallConv(function: Value) -> u32;
    is_switch = LLVMIsASwitchInst(value: Value) -> Option<Value>;
    operand = LLVMGetOperand(value: Value, index: u32) -> Value;
    set_operand = LLVMSetOperand(user: Value, index: u32, value: Value);
    is_call = LLVMIsACallInst(value: Value) -> Option<Value>;
    is_invoke = LLVMIsAInvokeInst(value: Value) -> Option<Value>;
    is_store = LLVMIsAStoreInst(value: Value) -> Option<Value>;
    is_alloca = LLVMIsAAllocaInst(value: Value) -> Option<Value>;
    is_compare_exchange = LLVMIsAAtomicCmpXchgInst(value: Value) -> Option<Value>;
    atomic_operation = LLVMGetAtomicRMWBinOp(instruction: Value) -> i32;
    is_fence = LLVMIsAFenceInst(value: Value) -> Option<Value>;
    is_load = LLVMIsALoadInst(value: Value) -> Option<Value>;
    is_gep = LLVMIsAGetElementPtrInst(value: Value) -> Option<Value>;
    gep_element = LLVMGetGEPSourceElementType(gep: Value) -> Type;
    is_phi = LLVMIsAPHINode(value: Value) -> Option<Value>;
    is_select = LLVMIsASelectInst(value: Value) -> Option<Value>;
    is_address_space_cast = LLVMIsAAddrSpaceCastInst(value: Value) -> Option<Value>;
    is_function = LLVMIsAFunction(value: Value) -> Option<Value>;
    is_global_variable = LLVMIsAGlobalVariable(value: Value) -> Option<Value>;
    is_inline_asm = LLVMIsAInlineAsm(value: Value) -> Option<Value>;
    is_constant_int = LLVMIsAConstantInt(value: Value) -> Option<Value>;
    is_constant_expression = LLVMIsAConstantExpr(value: Value) -> Option<Value>;
    is_constant_struct = LLVMIsAConstantStruct(value: Value) -> Option<Value>;
    is_constant_data = LLVMIsAConstantDataSequential(value: Value) -> Option<Value>;
    is_undef = LLVMIsUndef(value: Value) -> Bool;
    is_constant_zero = LLVMIsAConstantAggregateZero(value: Value) -> Option<Value>;
    is_constant = LLVMIsAConstant(value: Value) -> Option<Value>;
    is_declaration = LLVMIsDeclaration(global: Value) -> Bool;
    intrinsic_id = LLVMGetIntrinsicID(function: Value) -> u32;
    called_type = LLVMGetCalledFunctionType(call: Value) -> Type;
    called_value = LLVMGetCalledValue(call: Value) -> Value;
    initializer = LLVMGetInitializer(global: Value) -> Option<Value>;
    set_initializer = LLVMSetInitializer(global: Value, value: Option<Value>);
    linkage = LLVMGetLinkage(global: Value) -> i32;
    set_linkage = LLVMSetLinkage(global: Value, linkage: i32);
    is_global_constant = LLVMIsGlobalConstant(global: Value) -> Bool;
    set_global_constant = LLVMSetGlobalConstant(global: Value, yes: Bool);
    is_thread_local = LLVMIsThreadLocal(global: Value) -> Bool;
    is_externally_initialized = LLVMIsExternallyInitialized(global: Value) -> Bool;
    set_visibility = LLVMSetVisibility(global: Value, visibility: i32);
    set_comdat = LLVMSetComdat(global: Value, comdat: Option<NonNull<c_void>>);
    no_unsigned_wrap = LLVMGetNUW(instruction: Value) -> Bool;
    set_no_unsigned_wrap = LLVMSetNUW(instruction: Value, yes: Bool);
    set_no_signed_wrap = LLVMSetNSW(instruction: Value, yes: Bool);
    set_gep_flags = LLVMGEPSetNoWrapFlags(gep: Value, flags: u32);
    remove_from_block = LLVMInstructionRemoveFromParent(instruction: Value);
    is_volatile = LLVMGetVolatile(access: Value) -> Bool;
    set_successor = LLVMSetSuccessor(terminator: Value, index: u32, to: Block);
    build_branch = LLVMBuildBr(builder: Builder, to: Block) -> Value;
    conditional = LLVMBuildCondBr(builder: Builder, condition: Value, yes: Block, no: Block) -> Value;
    is_block = LLVMValueIsBasicBlock(value: Value) -> Bool;
    value_block = LLVMValueAsBasicBlock(value: Value) -> Block;
    block_value = LLVMBasicBlockAsValue(block: Block) -> Value;
    clone_instruction = LLVMInstructionClone(instruction: Value) -> Value;
    insert = LLVMInsertIntoBuilder(builder: Builder, instruction: Value);
    attribute_value = LLVMGetEnumAttributeValue(attribute: Attribute) -> u64;
    set_alignment = LLVMSetAlignment(value: Value, bytes: u32);
    alignment = LLVMGetAlignment(value: Value) -> u32;
    set_externally_initialized = LLVMSetExternallyInitialized(global: Value, yes: Bool);
    replace_all_uses = LLVMReplaceAllUsesWith(old: Value, new: Value);
    type_of = LLVMTypeOf(value: Value) -> Type;
    value_type = LLVMGlobalGetValueType(global: Value) -> Type;
    type_kind = LLVMGetTypeKind(kind_of: Type) -> i32;
    pointer_address_space = LLVMGetPointerAddressSpace(pointer: Type) -> u32;
    integer_width = LLVMGetIntTypeWidth(integer: Type) -> u32;
    return_type = LLVMGetReturnType(function_type: Type) -> Type;
    element_count = LLVMCountStructElementTypes(structure: Type) -> u32;
    array_length = LLVMGetArrayLength2(array: Type) -> u64;
    parameter = LLVMGetParam(function: Value, index: u32) -> Value;
    void_type = LLVMVoidTypeInContext(context: Context) -> Type;
    bool_type = LLVMInt1TypeInContext(context: Context) -> Type;
    i128_type = LLVMInt128TypeInContext(context: Context) -> Type;
    i8_type = LLVMInt8TypeInContext(context: Context) -> Type;
    pointer_type = LLVMPointerTypeInContext(context: Context, address_space: u32) -> Type;
    array_type = LLVMArrayType2(element: Type, length: u64) -> Type;
    i16_type = LLVMInt16TypeInContext(context: Context) -> Type;
    i32_type = LLVMInt32TypeInContext(context: Context) -> Type;
    i64_type = LLVMInt64TypeInContext(context: Context) -> Type;
    half_type = LLVMHalfTypeInContext(context: Context) -> Type;
    bfloat_type = LLVMBFloatTypeInContext(context: Context) -> Type;
    float_type = LLVMFloatTypeInContext(context: Context) -> Type;
    double_type = LLVMDoubleTypeInContext(context: Context) -> Type;
    vector_type = LLVMVectorType(element: Type, length: u32) -> Type;
    argument_count = LLVMGetNumArgOperands(call: Value) -> u32;
    is_atomic_rmw = LLVMIsAAtomicRMWInst(value: Value) -> Option<Value>;
    ordering = LLVMGetOrdering(access: Value) -> i32;
    atomic_sync_scope = LLVMGetAtomicSyncScopeID(access: Value) -> u32;
    set_ordering = LLVMSetOrdering(access: Value, ordering: i32);
    set_sync_scope = LLVMSetAtomicSyncScopeID(access: Value, scope: u32);
    intrinsic_is_overloaded = LLVMIntrinsicIsOverloaded(id: u32) -> Bool;
    build_store = LLVMBuildStore(builder: Builder, value: Value, pointer: Value) -> Value;
    build_compare_exchange = LLVMBuildAtomicCmpXchg(builder: Builder, pointer: Value, expected: Value, new: Value, success: i32, failure: i32, single_thread: Bool) -> Value;
    const_int = LLVMConstInt(integer: Type, value: u64, sign_extend: Bool) -> Value;
    const_real = LLVMConstReal(real: Type, value: f64) -> Value;
    const_null = LLVMConstNull(null_of: Type) -> Value;
    undef = LLVMGetUndef(undef_of: Type) -> Value;
    zero_extended = LLVMConstIntGetZExtValue(integer: Value) -> u64;
    const_opcode = LLVMGetConstOpcode(expression: Value) -> i32;
    const_address_space_cast = LLVMConstAddrSpaceCast(constant: Value, to: Type) -> Value;
    opcode = LLVMGetInstructionOpcode(instruction: Value) -> i32;
    fast_math_flags = LLVMGetFastMathFlags(instruction: Value) -> u32;
    can_use_fast_math_flags = LLVMCanValueUseFastMathFlags(instruction: Value) -> Bool;
    set_fast_math_flags = LLVMSetFastMathFlags(instruction: Value, flags: u32);
    set_call_convention = LLVMSetFunctionCallConv(function: Value, convention: u32);
    add_attribute = LLVMAddAttributeAtIndex(function: Value, index: u32, attribute: Attribute);
    enum_attribute = LLVMGetEnumAttributeAtIndex(function: Value, index: u32, kind: u32) -> Option<Attribute>;
    add_call_attribute = LLVMAddCallSiteAttribute(call: Value, index: u32, attribute: Attribute);
    create_enum_attribute = LLVMCreateEnumAttribute(context: Context, kind: u32, value: u64) -> Attribute;
    create_type_attribute = LLVMCreateTypeAttribute(context: Context, kind: u32, value: Type) -> Attribute;
    remove_call_attribute = LLVMRemoveCallSiteEnumAttribute(call: Value, index: u32, kind: u32);
    remove_enum_attribute = LLVMRemoveEnumAttributeAtIndex(function: Value, index: u32, kind: u32);
    set_metadata = LLVMSetMetadata(instruction: Value, kind: u32, node: Value);
    metadata = LLVMGetMetadata(instruction: Value, kind: u32) -> Option<Value>;
    metadata_as_value = LLVMMetadataAsValue(context: Context, metadata: Metadata) -> Value;
    value_as_metadata = LLVMValueAsMetadata(value: Value) -> Metadata;
    replace_metadata = LLVMMetadataReplaceAllUsesWith(temporary: Metadata, node: Metadata);
    replace_node_operand = LLVMReplaceMDNodeOperandWith(node: Value, index: u32, operand: Metadata);
    debug_location = LLVMInstructionGetDebugLoc(instruction: Value) -> Option<Metadata>;
    location_line = LLVMDILocationGetLine(location: Metadata) -> u32;
    location_column = LLVMDILocationGetColumn(location: Metadata) -> u32;
    location_scope = LLVMDILocationGetScope(location: Metadata) -> Metadata;
    location_inlined_at = LLVMDILocationGetInlinedAt(location: Metadata) -> Option<Metadata>;
    scope_file = LLVMDIScopeGetFile(scope: Metadata) -> Option<Metadata>;
    subprogram = LLVMGetSubprogram(function: Value) -> Option<Metadata>;
    set_subprogram = LLVMSetSubprogram(function: Value, subprogram: Metadata);
    strip_debug_info = LLVMStripModuleDebugInfo(module: Module) -> Bool;
    position_before = LLVMPositionBuilderBefore(builder: Builder, instruction: Value);
    position_at_end = LLVMPositionBuilderAtEnd(builder: Builder, block: Block);
    build_unreachable = LLVMBuildUnreachable(builder: Builder) -> Value;
    parameter_count = LLVMCountParams(function: Value) -> u32;
    build_return = LLVMBuildRet(builder: Builder, value: Value) -> Value;
    build_return_void = LLVMBuildRetVoid(builder: Builder) -> Value;
    build_atomic_rmw = LLVMBuildAtomicRMW(builder: Builder, operation: i32, pointer: Value, value: Value, ordering: i32, single_thread: Bool) -> Value;
    create_pass_options = LLVMCreatePassBuilderOptions() -> PassOptions;
    initialize_target_info = LLVMInitializeNVPTXTargetInfo();
    initialize_target = LLVMInitializeNVPTXTarget();
    initialize_target_mc = LLVMInitializeNVPTXTargetMC();
    initialize_asm_printer = LLVMInitializeNVPTXAsmPrinter();
    clone_module = LLVMCloneModule(module: Module) -> Module;
    write_bitcode = LLVMWriteBitcodeToMemoryBuffer(module: Module) -> Buffer;
    lookup_intrinsic_id = LLVMLookupIntrinsicID(name: *const c_char, length: Length) -> u32;
    set_personality = LLVMSetPersonalityFn(function: Value, personality: Option<Value>);
    has_personality = LLVMHasPersonalityFn(function: Value) -> Bool;
    buffer_start = LLVMGetBufferStart(buffer: Buffer) -> *const u8;
    buffer_size = LLVMGetBufferSize(buffer: Buffer) -> Length;

    @unsafe
    build_insert = LLVMBuildInsertValue(builder: Builder, aggregate: Value, value: Value, index: u32, name: *const c_char) -> Value;
    build_extract = LLVMBuildExtractValue(builder: Builder, aggregate: Value, index: u32, name: *const c_char) -> Value;
    build_phi = LLVMBuildPhi(builder: Builder, of: Type, name: *const c_char) -> Value;
    add_incoming = LLVMAddIncoming(phi: Value, values: *const Value, blocks: *const Block, count: u32);
    build_and = LLVMBuildAnd(builder: Builder, left: Value, right: Value, name: *const c_char) -> Value;
    build_or = LLVMBuildOr(builder: Builder, left: Value, right: Value, name: *const c_char) -> Value;
    build_not = LLVMBuildNot(builder: Builder, value: Value, name: *const c_char) -> Value;
    build_sub = LLVMBuildSub(builder: Builder, left: Value, right: Value, name: *const c_char) -> Value;
    build_shl = LLVMBuildShl(builder: Builder, left: Value, right: Value, name: *const c_char) -> Value;
    build_zext = LLVMBuildZExt(builder: Builder, value: Value, to: Type, name: *const c_char) -> Value;
    build_freeze = LLVMBuildFreeze(builder: Builder, value: Value, name: *const c_char) -> Value;
    build_icmp = LLVMBuildICmp(builder: Builder, predicate: i32, left: Value, right: Value, name: *const c_char) -> Value;
    build_fcmp = LLVMBuildFCmp(builder: Builder, predicate: i32, left: Value, right: Value, name: *const c_char) -> Value;
    build_fneg = LLVMBuildFNeg(builder: Builder, value: Value, name: *const c_char) -> Value;
    value_name = LLVMGetValueName2(value: Value, length: *mut Length) -> *const u8;
    set_value_name = LLVMSetValueName2(value: Value, name: *const u8, length: Length);
    named_function = LLVMGetNamedFunction(module: Module, name: *const c_char) -> Option<Value>;
    named_global = LLVMGetNamedGlobal(module: Module, name: *const c_char) -> Option<Value>;
    add_function = LLVMAddFunction(module: Module, name: *const c_char, function_type: Type) -> Value;
    add_global = LLVMAddGlobalInAddressSpace(module: Module, value_type: Type, name: *const c_char, address_space: u32) -> Value;
    append_block = LLVMAppendBasicBlockInContext(context: Context, function: Value, name: *const c_char) -> Block;
    function_type = LLVMFunctionType(result: Type, parameters: *const Type, count: u32, variadic: Bool) -> Type;
    build_call = LLVMBuildCall2(builder: Builder, function_type: Type, function: Value, arguments: *const Value, count: u32, name: *const c_char) -> Value;
    build_select = LLVMBuildSelect(builder: Builder, condition: Value, yes: Value, no: Value, name: *const c_char) -> Value;
    build_load = LLVMBuildLoad2(builder: Builder, load_type: Type, pointer: Value, name: *const c_char) -> Value;
    build_gep = LLVMBuildGEP2(builder: Builder, element: Type, pointer: Value, indices: *const Value, count: u32, name: *const c_char) -> Value;
    build_cast = LLVMBuildCast(builder: Builder, opcode: i32, value: Value, to: Type, name: *const c_char) -> Value;
    build_binary = LLVMBuildBinOp(builder: Builder, opcode: i32, left: Value, right: Value, name: *const c_char) -> Value;
    build_fence = LLVMBuildFence(builder: Builder, ordering: i32, single_thread: Bool, name: *const c_char) -> Value;
    struct_type = LLVMStructTypeInContext(context: Context, elements: *const Type, count: u32, packed: Bool) -> Type;
    parse_options = LLVMParseCommandLineOptions(count: i32, arguments: *const *const c_char, overview: *const c_char);
    sync_scope = LLVMGetSyncScopeID(context: Context, name: *const c_char, length: Length) -> u32;
    install_fatal_error_handler = LLVMInstallFatalErrorHandler(handler: extern "C" fn(*const c_char));
    const_string = LLVMConstStringInContext2(context: Context, text: *const c_char, length: Length, no_zero: Bool) -> Value;
    inline_asm_text = LLVMGetInlineAsmAsmString(assembly: Value, length: *mut Length) -> *const u8;
    inline_asm_constraints = LLVMGetInlineAsmConstraintString(assembly: Value, length: *mut Length) -> *const u8;
    inline_asm = LLVMGetInlineAsm(function_type: Type, text: *const c_char, length: Length, constraints: *const c_char, constraints_length: Length, side_effects: Bool, align_stack: Bool, dialect: i32, can_throw: Bool) -> Value;
    attribute_kind = LLVMGetEnumAttributeKindForName(name: *const c_char, length: Length) -> u32;
    remove_string_attribute = LLVMRemoveStringAttributeAtIndex(function: Value, index: u32, name: *const c_char, length: u32);
    metadata_kind = LLVMGetMDKindIDInContext(context: Context, name: *const c_char, length: u32) -> u32;
    intrinsic_declaration = LLVMGetIntrinsicDeclaration(module: Module, id: u32, types: *const Type, count: Length) -> Value;
    metadata_text = LLVMMDStringInContext2(context: Context, text: *const c_char, length: Length) -> Metadata;
    temporary_metadata_node = LLVMTemporaryMDNode(context: Context, operands: *const Metadata, count: Length) -> Metadata;
    metadata_node = LLVMMDNodeInContext2(context: Context, operands: *const Metadata, count: Length) -> Metadata;
    raw_data = LLVMGetRawDataValues(data: Value, size: *mut Length) -> *const u8;
    file_name = LLVMDIFileGetFilename(file: Metadata, length: *mut u32) -> *const u8;
    file_directory = LLVMDIFileGetDirectory(file: Metadata, length: *mut u32) -> *const u8;
    erase_instruction = LLVMInstructionEraseFromParent(instruction: Value);
    delete_function = LLVMDeleteFunction(function: Value);
    delete_block = LLVMDeleteBasicBlock(block: Block);
    get_string_attribute = LLVMGetStringAttributeAtIndex(function: Value, index: u32, name: *const c_char, length: u32) -> Option<Attribute>;
    get_string_attribute_value = LLVMGetStringAttributeValue(attribute: Attribute, length: *mut u32) -> *const u8;
    create_string_attribute = LLVMCreateStringAttribute(context: Context, name: *const c_char, name_length: u32, value: *const c_char, value_length: u32) -> Attribute;
    delete_global = LLVMDeleteGlobal(global: Value);
    set_triple = LLVMSetTarget(module: Module, triple: *const c_char);
    set_module_inline_asm = LLVMSetModuleInlineAsm2(module: Module, text: *const c_char, length: Length);
    set_data_layout = LLVMSetDataLayout(module: Module, layout: *const c_char);
    target_from_triple = LLVMGetTargetFromTriple(triple: *const c_char, target: *mut Option<Target>, error: *mut *mut c_char) -> Bool;
    create_target_machine = LLVMCreateTargetMachine(target: Target, triple: *const c_char, cpu: *const c_char, features: *const c_char, level: i32, relocation: i32, code_model: i32) -> Option<TargetMachine>;
    create_data_layout = LLVMCreateTargetDataLayout(machine: TargetMachine) -> NonNull<c_void>;
    data_layout_text = LLVMCopyStringRepOfTargetData(layout: NonNull<c_void>) -> *mut c_char;
    run_passes = LLVMRunPasses(module: Module, passes: *const c_char, machine: Option<TargetMachine>, options: PassOptions) -> Option<PassError>;
    run_passes_on_function = LLVMRunPassesOnFunction(function: Value, passes: *const c_char, machine: Option<TargetMachine>, options: PassOptions) -> Option<PassError>;
    pass_error_message = LLVMGetErrorMessage(error: PassError) -> *mut c_char;
    verify_module = LLVMVerifyModule(module: Module, action: i32, message: *mut *mut c_char) -> Bool;
    buffer_from_bytes = LLVMCreateMemoryBufferWithMemoryRangeCopy(bytes: *const u8, length: Length, name: *const c_char) -> Buffer;
    parse_bitcode = LLVMParseBitcodeInContext2(context: Context, buffer: Buffer, module: *mut Option<Module>) -> Bool;
    parse_bitcode_lazily = LLVMGetBitcodeModuleInContext2(context: Context, buffer: Buffer, module: *mut Option<Module>) -> Bool;
    create_module = LLVMModuleCreateWithNameInContext(name: *const c_char, context: Context) -> Module;
    dispose_buffer = LLVMDisposeMemoryBuffer(buffer: Buffer);
    dispose_context = LLVMContextDispose(context: Context);
    dispose_machine = LLVMDisposeTargetMachine(machine: TargetMachine);
    dispose_module = LLVMDisposeModule(module: Module);
    link_modules = LLVMLinkModules2(into: Module, from: Module) -> Bool;
    emit_to_buffer = LLVMTargetMachineEmitToMemoryBuffer(machine: TargetMachine, module: Module, kind: i32, error: *mut *mut c_char, buffer: *mut Option<Buffer>) -> Bool;
}

static TABLE: OnceLock<Table> = OnceLock::new();

fn table() -> &'static Table {
    TABLE.get().expect("`load` comes before any other call")
}

/// Opens the LLVM at `path`. Everything else in this module needs it to have succeeded.
///
/// # Errors
///
/// If the library cannot be opened, lacks a function, or has no NVPTX back end.
pub fn load(path: &Path) -> Result<(), Error> {
    // LLVM's options and targets are set by one thread, while no other uses them.
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    if TABLE.get().is_some() {
        return Ok(());
    }
    // SAFETY: the path is that of the LLVM that rustc itself has loaded; its constructors ran there already.
    let library = unsafe { libloading::Library::new(path) }.map_err(|cause| Error::OpenLlvm {
        path: path.into(),
        cause: cause.to_string(),
    })?;
    // SAFETY: as above.
    let table = unsafe { Table::load(library, path)? };
    let _ = TABLE.set(table);
    set_options();
    initialize_target_info();
    initialize_target();
    initialize_target_mc();
    initialize_asm_printer();
    Ok(())
}

/// What LLVM offers no other way to choose.
fn set_options() {
    const OPTIONS: [&CStr; 5] = [
        c"gpu-compiler",
        // Loops whose checks are taken out are copied up to this size (LLVM's measure; its default is 50).
        c"-unswitch-threshold=2000",
        // An index stays the sum that the source says, which a guard may say something of.
        c"-licm-max-num-int-reassociations=0",
        // The trips that are left when a loop is unrolled come first: of what they need, no register is kept in the loop.
        c"-unroll-runtime-epilog=false",
        // Loops of this size are unrolled as often as nvcc unrolls them, by four.
        c"-unroll-partial-threshold=150",
    ];
    let arguments = OPTIONS.map(CStr::as_ptr);
    // SAFETY: the arguments are C strings, and there are as many.
    unsafe { parse_options(arguments.len() as i32, arguments.as_ptr(), c"".as_ptr()) };
}

unsafe fn symbol<F: Copy>(
    library: &libloading::Library,
    path: &Path,
    name: &str,
) -> Result<F, Error> {
    // SAFETY: the caller gives the function's type.
    match unsafe { library.get::<F>(name.as_bytes()) } {
        Ok(function) => Ok(*function),
        Err(_) => Err(Error::LlvmLacks {
            path: path.into(),
            function: name.into(),
        }),
    }
}

/// The text of a C string that LLVM gave away, which is then left to the end of the process.
///
/// # Safety
///
/// `text` is null or a C string.
pub unsafe fn owned_text(text: *mut c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned()
}
