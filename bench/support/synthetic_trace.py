"""synthetic_trace.py FOLDER KERNELS: writes trace.sqlite, an export of Nsight Systems with that many kernels in the schema of
nsys 2023.4 (its columns, not its indices), and layers.json, the layer info of the engine that ran: 200 layers, a kernel each."""
import json, os, sqlite3, sys

folder, kernels = sys.argv[1], int(sys.argv[2])
LAYERS = 200
PROCESS = 281504806600704
THREAD = PROCESS + 1778
names = [f'/encoder/layers.{i // 20}/block_{i}/MatMul' for i in range(LAYERS)]

KERNEL = 'start end deviceId contextId greenContextId streamId correlationId globalPid demangledName shortName mangledName launchType cacheConfig registersPerThread gridX gridY gridZ blockX blockY blockZ staticSharedMemory dynamicSharedMemory localMemoryPerThread localMemoryTotal gridId sharedMemoryExecuted graphNodeId sharedMemoryLimitConfig'
RUNTIME = 'start end eventClass globalTid correlationId nameId returnValue callchainId'
NVTX = 'start end eventType rangeId category color text globalTid endGlobalTid textId domainId uint64Value int64Value doubleValue uint32Value int32Value floatValue jsonTextId jsonText'


def rows():
    """(table, row) in the order of time: an enqueue, in it for each layer a range, a call that launches, its kernel."""
    time, correlation = 500_000_000, 1000
    for done in range(0, kernels, LAYERS):
        count = min(LAYERS, kernels - done)
        begin = time
        yield 'n', (begin, begin + 4000 * count + 500, 59, None, None, None, None, THREAD, None, LAYERS, 1, *[None] * 8)
        for layer in range(count):
            at = begin + 500 + 4000 * layer
            yield 'n', (at, at + 3500, 59, None, None, None, None, THREAD, None, layer, 1, *[None] * 8)
            correlation += 3
            yield 'r', (at + 300, at + 2300 + layer, 1, THREAD, correlation, LAYERS + 1, 0, None)
            start = at + 4000
            length = 2000 + (layer * 37 + done // LAYERS) % 1900
            yield 'k', (start, start + length, 0, 1, None, 23, correlation, PROCESS, layer, layer, layer, 1, 1, 96, 12, 2, 1, 128, 1, 1, 0, 4096, 0, 250871808, correlation, 65536, None, 0)
        time = begin + 4000 * count + 9000


path = os.path.join(folder, 'trace.sqlite')
if os.path.exists(path):
    os.remove(path)
db = sqlite3.connect(path)
db.execute('pragma journal_mode=off')
db.execute('pragma synchronous=off')
db.execute('create table StringIds (id integer not null primary key, value text not null)')
for table, columns in (('CUPTI_ACTIVITY_KIND_KERNEL', KERNEL), ('CUPTI_ACTIVITY_KIND_RUNTIME', RUNTIME), ('NVTX_EVENTS', NVTX)):
    db.execute(f'create table {table} ({", ".join(f"{name} INTEGER" for name in columns.split())})')
db.executemany('insert into StringIds values (?, ?)', enumerate([*names, 'ExecutionContext::enqueue', 'cudaLaunchKernel_v7000']))
for table, key, width in (('CUPTI_ACTIVITY_KIND_RUNTIME', 'r', 8), ('NVTX_EVENTS', 'n', 19), ('CUPTI_ACTIVITY_KIND_KERNEL', 'k', 28)):
    marks = ', '.join('?' * width)
    db.executemany(f'insert into {table} values ({marks})', (row for kind, row in rows() if kind == key))
db.commit()
db.close()
layers = [{'Name': name, 'LayerType': 'kgen', 'Inputs': [], 'Outputs': [], 'TacticName': f'kernel_{i}', 'StreamId': 0, 'Metadata': ''} for i, name in enumerate(names)]
with open(os.path.join(folder, 'layers.json'), 'w') as out:
    json.dump({'Layers': layers, 'Bindings': []}, out)
