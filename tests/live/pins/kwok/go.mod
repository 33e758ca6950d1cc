module trainyard.test/kwok

go 1.26.0

require sigs.k8s.io/kwok v0.8.0

// kwok asks for newer versions of what follows; at the versions of cluster/ most of it is compiled already (its server, which is not used, wants its own cri-client).
require (
	github.com/go-openapi/swag/cmdutils v0.25.4
	github.com/go-openapi/swag/conv v0.25.4
	github.com/go-openapi/swag/fileutils v0.25.4
	github.com/go-openapi/swag/jsonname v0.25.4
	github.com/go-openapi/swag/jsonutils v0.25.4
	github.com/go-openapi/swag/loading v0.25.4
	github.com/go-openapi/swag/mangling v0.25.4
	github.com/go-openapi/swag/netutils v0.25.4
	github.com/go-openapi/swag/stringutils v0.25.4
	github.com/go-openapi/swag/typeutils v0.25.4
	github.com/go-openapi/swag/yamlutils v0.25.4
)

replace (
	go.opentelemetry.io/contrib/instrumentation/github.com/emicklei/go-restful/otelrestful => go.opentelemetry.io/contrib/instrumentation/github.com/emicklei/go-restful/otelrestful v0.44.0
	github.com/antlr4-go/antlr/v4 => github.com/antlr4-go/antlr/v4 v4.13.1
	github.com/go-openapi/jsonpointer => github.com/go-openapi/jsonpointer v0.22.4
	github.com/go-openapi/jsonreference => github.com/go-openapi/jsonreference v0.21.4
	github.com/go-openapi/swag => github.com/go-openapi/swag v0.25.4
	github.com/google/gnostic-models => github.com/google/gnostic-models v0.7.1
	github.com/grpc-ecosystem/grpc-gateway/v2 => github.com/grpc-ecosystem/grpc-gateway/v2 v2.27.1
	github.com/stoewer/go-strcase => github.com/stoewer/go-strcase v1.3.1
	go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc => go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc v0.61.0
	go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp => go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp v0.61.0
	go.opentelemetry.io/otel => go.opentelemetry.io/otel v1.41.0
	go.opentelemetry.io/otel/exporters/otlp/otlptrace => go.opentelemetry.io/otel/exporters/otlp/otlptrace v1.37.0
	go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc => go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc v1.37.0
	go.opentelemetry.io/otel/metric => go.opentelemetry.io/otel/metric v1.41.0
	go.opentelemetry.io/otel/sdk => go.opentelemetry.io/otel/sdk v1.40.0
	go.opentelemetry.io/otel/trace => go.opentelemetry.io/otel/trace v1.41.0
	go.opentelemetry.io/proto/otlp => go.opentelemetry.io/proto/otlp v1.7.0
	golang.org/x/exp => golang.org/x/exp v0.0.0-20250718183923-645b1fa84792
	golang.org/x/oauth2 => golang.org/x/oauth2 v0.35.0
	golang.org/x/sys => golang.org/x/sys v0.41.0
	golang.org/x/term => golang.org/x/term v0.40.0
	google.golang.org/genproto/googleapis/api => google.golang.org/genproto/googleapis/api v0.0.0-20260128011058-8636f8732409
	google.golang.org/genproto/googleapis/rpc => google.golang.org/genproto/googleapis/rpc v0.0.0-20260217215200-42d3e9bedb6d
	google.golang.org/grpc => google.golang.org/grpc v1.79.3
	google.golang.org/protobuf => google.golang.org/protobuf v1.36.11
	k8s.io/api => k8s.io/api v0.35.4
	k8s.io/apimachinery => k8s.io/apimachinery v0.35.4
	k8s.io/apiserver => k8s.io/apiserver v0.35.4
	k8s.io/client-go => k8s.io/client-go v0.35.4
	k8s.io/component-base => k8s.io/component-base v0.35.4
	k8s.io/kube-openapi => k8s.io/kube-openapi v0.0.0-20260127142750-a19766b6e2d4
	sigs.k8s.io/kustomize/api => sigs.k8s.io/kustomize/api v0.20.1
	sigs.k8s.io/kustomize/kyaml => sigs.k8s.io/kustomize/kyaml v0.20.1
	go.yaml.in/yaml/v3 => go.yaml.in/yaml/v3 v3.0.4
)
