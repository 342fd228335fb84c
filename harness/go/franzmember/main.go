// A member of a group with franz-go, which reads payments and writes them with their fee to another
// topic, effects and offsets in one transaction: `franzmember TASK`.
//
// The loop is that of the library's documentation. After an abort, the session starts again at the
// committed offsets. After an error the program exits, and its supervisor starts it again.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"onceproof/clients/contract"
)

func main() {
	task := contract.LoadMemberTask()
	session, err := kgo.NewGroupTransactSession(
		kgo.SeedBrokers(strings.Split(task.Bootstrap, ",")...),
		kgo.ClientID(task.Name),
		kgo.ConsumerGroup(task.Group),
		kgo.ConsumeTopics(task.Topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.RequireStableFetchOffsets(),
		kgo.SessionTimeout(6*time.Second),
		kgo.HeartbeatInterval(time.Second),
		kgo.RebalanceTimeout(10*time.Second),
		kgo.TransactionalID(task.OwnTransactionalID()),
		kgo.TransactionTimeout(contract.TransactionTimeout),
		kgo.ProducerLinger(5*time.Millisecond),
		kgo.ProduceRequestTimeout(time.Second),
		kgo.RequestTimeoutOverhead(2*time.Second),
		kgo.RetryBackoffFn(func(int) time.Duration { return 50 * time.Millisecond }),
		kgo.MetadataMinAge(250*time.Millisecond),
		kgo.DefaultProduceTopic(task.Sink),
	)
	if err != nil {
		contract.Die("ended: %v", err)
	}
	watchdog := contract.NewWatchdog(contract.HungAfter)
	ctx := context.Background()
	for {
		read := session.PollRecords(ctx, task.Batch)
		read.EachError(func(topic string, partition int32, err error) {
			fmt.Fprintf(os.Stderr, "%s-%d: %v\n", topic, partition, err)
		})
		if !read.Empty() {
			watchdog.Over("a transaction", func() { process(ctx, session, read, task.Rewind) })
		}
	}
}

// process commits effects and offsets in one transaction.
func process(
	ctx context.Context, session *kgo.GroupTransactSession, read kgo.Fetches, rewinds bool,
) {
	if err := session.Begin(); err != nil {
		contract.Die("ended: begin: %v", err)
	}
	sends := kgo.AbortingFirstErrPromise(session.Client())
	read.EachRecord(func(record *kgo.Record) {
		session.Produce(ctx, effect(record), sends.Promise())
	})
	commit := kgo.TransactionEndTry(sends.Err() == nil)
	committed, err := session.End(ctx, commit)
	if err != nil {
		contract.Die("ended: %v", err)
	}
	if committed {
		return
	}
	fmt.Fprintln(os.Stderr, "a transaction was aborted")
	if !rewinds {
		goOn(session.Client(), read)
	}
}

func effect(record *kgo.Record) *kgo.Record {
	found := &kgo.Record{Key: record.Key, Value: contract.Effect(record.Value)}
	for _, header := range record.Headers {
		if header.Key == contract.RecordHeader {
			found.Headers = append(found.Headers, header)
		}
	}
	return found
}

// goOn is what the broken twin does: it goes on behind what it has read, as if it were committed.
func goOn(client *kgo.Client, read kgo.Fetches) {
	ends := map[string]map[int32]kgo.EpochOffset{}
	read.EachRecord(func(record *kgo.Record) {
		if ends[record.Topic] == nil {
			ends[record.Topic] = map[int32]kgo.EpochOffset{}
		}
		ends[record.Topic][record.Partition] = kgo.EpochOffset{
			Epoch: record.LeaderEpoch, Offset: record.Offset + 1,
		}
	})
	client.SetOffsets(ends)
}
